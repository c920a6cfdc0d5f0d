import { ByteFields } from '../byte-fields.ts';

/** Call frame instructions, as DWARF 5, 7.24 numbers them, and GNU's and Arm's; repeated here to be independent of the reader. */
export class CfaCode {
  readonly #fields: ByteFields;

  constructor(littleEndian = true) {
    this.#fields = new ByteFields(littleEndian);
  }

  get bytes(): Uint8Array {
    return this.#fields.done();
  }

  raw(...bytes: number[]): this {
    this.#fields.bytes(...bytes);
    return this;
  }

  /** In units of the CIE's code alignment. */
  advance(delta: number): this {
    if (delta < 0x40) return this.raw(0x40 | delta);
    if (delta < 0x100) return this.advance1(delta);
    return delta < 0x10000 ? this.advance2(delta) : this.advance4(delta);
  }

  advance1(delta: number): this {
    this.#fields.bytes(2, delta);
    return this;
  }

  advance2(delta: number): this {
    this.#fields.bytes(3).u16(delta);
    return this;
  }

  advance4(delta: number): this {
    this.#fields.bytes(4).u32(delta);
    return this;
  }

  mipsAdvance8(delta: number): this {
    this.#fields.bytes(0x1d).u64(delta);
    return this;
  }

  /** @param value as the CIE's encoding stores it */
  setLoc(value: number, sizeBytes: number): this {
    this.#fields.bytes(1).uint(value, sizeBytes);
    return this;
  }

  /** @param factored in units of the CIE's data alignment, as everywhere here unless said otherwise */
  offset(register: number, factored: number): this {
    this.#fields.bytes(0x80 | register).uleb(factored);
    return this;
  }

  offsetExtended(register: number, factored: number): this {
    return this.#two(0x05, register, factored);
  }

  offsetExtendedSf(register: number, factored: number): this {
    this.#fields.bytes(0x11).uleb(register).sleb(factored);
    return this;
  }

  negativeOffsetExtended(register: number, factored: number): this {
    return this.#two(0x2f, register, factored);
  }

  valOffset(register: number, factored: number): this {
    return this.#two(0x14, register, factored);
  }

  valOffsetSf(register: number, factored: number): this {
    this.#fields.bytes(0x15).uleb(register).sleb(factored);
    return this;
  }

  restore(register: number): this {
    return this.raw(0xc0 | register);
  }

  restoreExtended(register: number): this {
    return this.#one(0x06, register);
  }

  undefined(register: number): this {
    return this.#one(0x07, register);
  }

  sameValue(register: number): this {
    return this.#one(0x08, register);
  }

  register(register: number, other: number): this {
    return this.#two(0x09, register, other);
  }

  remember(): this {
    return this.raw(0x0a);
  }

  restoreState(): this {
    return this.raw(0x0b);
  }

  /** @param offset in bytes */
  defCfa(register: number, offset: number): this {
    return this.#two(0x0c, register, offset);
  }

  defCfaSf(register: number, factored: number): this {
    this.#fields.bytes(0x12).uleb(register).sleb(factored);
    return this;
  }

  defCfaRegister(register: number): this {
    return this.#one(0x0d, register);
  }

  defCfaOffset(offset: number): this {
    return this.#one(0x0e, offset);
  }

  defCfaOffsetSf(factored: number): this {
    this.#fields.bytes(0x13).sleb(factored);
    return this;
  }

  defCfaExpression(expression: Uint8Array): this {
    this.#fields.bytes(0x0f).uleb(expression.length).put(expression);
    return this;
  }

  expression(register: number, expression: Uint8Array): this {
    this.#fields.bytes(0x10).uleb(register, expression.length).put(expression);
    return this;
  }

  valExpression(register: number, expression: Uint8Array): this {
    this.#fields.bytes(0x16).uleb(register, expression.length).put(expression);
    return this;
  }

  negateRaState(): this {
    return this.raw(0x2d);
  }

  negateRaStateWithPc(): this {
    return this.raw(0x2c);
  }

  argsSize(sizeBytes: number): this {
    return this.#one(0x2e, sizeBytes);
  }

  #one(opcode: number, operand: number): this {
    this.#fields.bytes(opcode).uleb(operand);
    return this;
  }

  #two(opcode: number, first: number, second: number): this {
    this.#fields.bytes(opcode).uleb(first, second);
    return this;
  }
}

export interface PlannedCie {
  readonly version?: number;
  readonly augmentation?: string;
  /** What `R` says; default `DW_EH_PE_pcrel | DW_EH_PE_sdata4`. */
  readonly encoding?: number;
  readonly codeAlignment?: number;
  readonly dataAlignment?: number;
  readonly returnAddress: number;
  readonly code: CfaCode;
  /** 64-bit DWARF: lengths of 8 bytes. */
  readonly isExtended?: boolean;
}

export interface PlannedFde {
  readonly start: number;
  readonly sizeBytes: number;
  readonly code: CfaCode;
}

/** An assembled section, and where its FDEs are. */
export interface AssembledFrames {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly fdeOffsets: readonly number[];
}

interface Form {
  readonly littleEndian: boolean;
  readonly addressSize: number;
  /** Whether it is `.debug_frame` rather than `.eh_frame`. */
  readonly isDebugFrame: boolean;
  readonly addr: number;
}

/**
 * Assembles `.eh_frame` or `.debug_frame`: CIEs, each followed by its FDEs.
 * @see DWARF 5, 6.4.1; Linux Standard Base Core, "The .eh_frame section"
 */
export function assembleFrames(groups: readonly (readonly [PlannedCie, readonly PlannedFde[]])[], form: Partial<Form> = {}): AssembledFrames {
  const { littleEndian = true, addressSize = 8, isDebugFrame = false, addr = 0 } = form;
  const section = new ByteFields(littleEndian);
  const fdeOffsets: number[] = [];
  const put = (isExtended: boolean, entry: ByteFields): void => {
    while ((entry.length + (isExtended ? 12 : 4)) % addressSize !== 0) entry.bytes(0);
    if (isExtended) section.u32(0xffff_ffff).u64(entry.length);
    else section.u32(entry.length);
    section.put(entry.done());
  };
  for (const [cie, fdes] of groups) {
    const { version = 1, augmentation = 'zR', encoding = 0x1b, codeAlignment = 1, dataAlignment = -8, returnAddress, code, isExtended = false } = cie;
    const idSize = isDebugFrame && isExtended ? 8 : 4;
    const cieAt = section.length;
    const head = new ByteFields(littleEndian)
      .uint(isDebugFrame ? -1 : 0, idSize)
      .bytes(version)
      .text(augmentation);
    if (augmentation === 'eh') head.uint(0, addressSize);
    if (version === 4) head.bytes(addressSize, 0);
    head.uleb(codeAlignment).sleb(dataAlignment);
    if (version === 1) head.bytes(returnAddress);
    else head.uleb(returnAddress);
    if (augmentation.startsWith('z')) {
      const data = new ByteFields(littleEndian);
      for (const letter of augmentation.slice(1)) {
        if (letter === 'R') data.bytes(encoding);
        else if (letter === 'L') data.bytes(0x1b);
        else if (letter === 'P') data.bytes(0x9b).u32(0x1234);
        else if (letter !== 'S' && letter !== 'B' && letter !== 'G') data.bytes(0xee);
      }
      head.uleb(data.length).put(data.done());
    }
    put(isExtended, head.put(code.bytes));
    for (const fde of fdes) {
      fdeOffsets.push(section.length);
      const idAt = section.length + (isExtended ? 12 : 4);
      const entry = new ByteFields(littleEndian).uint(isDebugFrame ? cieAt : idAt - cieAt, idSize);
      const sizeBytes = isDebugFrame ? addressSize : ({ 0: addressSize, 2: 2, 3: 4, 4: 8, 10: 2, 11: 4, 12: 8 }[encoding & 15] ?? 4);
      const place = addr + idAt + idSize;
      entry.uint(!isDebugFrame && (encoding & 0x70) === 0x10 ? fde.start - place : fde.start, sizeBytes).uint(fde.sizeBytes, sizeBytes);
      if (augmentation.startsWith('z')) entry.uleb(augmentation.includes('L') ? 4 : 0).bytes(...(augmentation.includes('L') ? [0, 0, 0, 0] : []));
      put(isExtended, entry.put(fde.code.bytes));
    }
  }
  if (!isDebugFrame) section.u32(0);
  return { bytes: section.done(), fdeOffsets };
}

/** `.eh_frame_hdr`, with a table of pairs (function, FDE) as linkers write it: sorted, 4 bytes each, relative to the header. */
export function assembleFrameTable(addr: number, frameAddr: number, entries: readonly (readonly [start: number, fdeAddr: number])[]): Uint8Array<ArrayBuffer> {
  const table = new ByteFields()
    .bytes(1, 0x1b, 0x03, 0x3b)
    .uint(frameAddr - (addr + 4), 4)
    .u32(entries.length);
  for (const [start, fdeAddr] of entries) table.uint(start - addr, 4).uint(fdeAddr - addr, 4);
  return table.done();
}
