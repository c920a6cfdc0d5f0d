import type { MachineRegisters, X86Machine } from '../../machines/unwind-machine.ts';
import type { CodeBytes } from '../../memory/code-bytes.ts';
import type { MachineModule } from '../../modules/unwind-module.ts';
import { I386Callees } from '../calls/i386-callees.ts';
import { FileCode } from '../code/file-code.ts';
import { ScanState } from '../code/scan-state.ts';
import { x86Decoders } from '../decoders/x86/x86-decoder.ts';

/** How far back a function's entry is looked for. Few functions are longer. */
const MAX_BYTES = 1 << 14;
/** How many bytes are searched at once, so that no byte is looked at again for another address of the same function. */
const BLOCK_SIZE_BYTES = 256;
/** The alignment of functions that have padding before them. */
const ALIGNMENT = 16;
/**
 * What compilers and assemblers fill space with: NOPs, which may have prefixes; and zeros between sections, as before `main`, which gcc puts first. Fewer zeros
 * may be part of an instruction.
 */
const PADDING = [
  [0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00],
  [0x90],
  [0x0f, 0x1f, 0x00],
  [0x0f, 0x1f, 0x40, 0x00],
  [0x0f, 0x1f, 0x44, 0x00, 0x00],
  [0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
  [0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
] as const;
/** On i386 also LEA of esi or edi to itself, which is older than the longer NOPs. */
const I386_PADDING = [
  ...PADDING,
  [0x8d, 0x76, 0x00],
  [0x8d, 0x7f, 0x00],
  [0x8d, 0x74, 0x26, 0x00],
  [0x8d, 0x7c, 0x27, 0x00],
  [0x8d, 0xb6, 0x00, 0x00, 0x00, 0x00],
  [0x8d, 0xbf, 0x00, 0x00, 0x00, 0x00],
  [0x8d, 0xb4, 0x26, 0x00, 0x00, 0x00, 0x00],
  [0x8d, 0xbc, 0x27, 0x00, 0x00, 0x00, 0x00],
] as const;
/** The length of the longest of them. */
const BYTES_BEFORE = 8;
/** In place of a byte that the file does not have. */
const MISSING = -1;
const RET = 0xc3;
const RET_POPPING = 0xc2;
const INT3 = 0xcc;
const SHORT_JUMP = 0xeb;
const CALL = 0xe8;
const JUMP = 0xe9;
const NOP = 0x90;
/** JMP by a word in memory, whose address follows: a tail call through a pointer, or of a function in another file. */
const JUMP_BY_WORD = [0xff, 0x25] as const;
/** How many of a function's first instructions are searched for one that makes room on the stack. */
const MAX_FIRST_INSTRUCTIONS = 4;

/**
 * Looks for where x86 functions begin: where room is made on the stack, right after what functions end with (including calls that do not return), or after
 * the padding between them. It misses some beginnings, and finds places that are none.
 */
export class EntrySearch {
  readonly #code: CodeBytes;
  readonly #reader: FileCode;
  readonly #i386Callees: I386Callees;
  readonly #decoders = x86Decoders();
  readonly #state = new ScanState();
  /** Of the module that is searched. */
  #machine!: MachineRegisters;
  /** The block that is searched, after the bytes before it. */
  readonly #bytes = new Int16Array(BYTES_BEFORE + BLOCK_SIZE_BYTES);

  constructor(code: CodeBytes) {
    this.#code = code;
    this.#reader = new FileCode(code);
    this.#i386Callees = new I386Callees(code);
  }

  /**
   * The svma of the nearest beginning before an svma; −1 if there is none, or code has to be read first ({@link CodeBytes.isPending}).
   * @param from the svma whose function is looked for
   */
  before(module: MachineModule, svma: number, from: number): number {
    const least = Math.max(0, from - MAX_BYTES);
    this.#reader.begin(module);
    this.#machine = module.registers;
    for (let block = Math.floor((svma - 1) / BLOCK_SIZE_BYTES); (block + 1) * BLOCK_SIZE_BYTES > least; block--) {
      const places = module.code.possibleEntries.get(block) ?? this.#look(module, block);
      if (places === undefined) return -1;
      const place = places.find((at) => Math.abs(at) < svma);
      if (place !== undefined) return place > least ? place : -1;
    }
    return -1;
  }

  /** Searches a block; undefined if code has to be read first, or enough was looked at. */
  #look(module: MachineModule, block: number): readonly number[] | undefined {
    if (module.code.effort.hasEnteredEnough) return undefined;
    module.code.effort.enteredInstructions += BLOCK_SIZE_BYTES;
    const start = block * BLOCK_SIZE_BYTES;
    this.#readBlock(start);
    if (this.#code.isPending) return undefined;
    const bytes = this.#bytes;
    const places: number[] = [];
    for (let i = bytes.length - 1; i >= BYTES_BEFORE; i--) {
      const at = start + i - BYTES_BEFORE;
      if (bytes[i] === MISSING) {
        if (bytes[i + 1] !== MISSING) places.push(-at);
      } else if (this.#ends(i) && this.#begins(module, at)) places.push(at);
    }
    if (this.#code.isPending) return undefined;
    module.code.possibleEntries.set(block, places);
    return places;
  }

  #readBlock(start: number): void {
    const reader = this.#reader;
    for (let i = 0; i < this.#bytes.length && !this.#code.isPending; i++) {
      reader.isMissing = false;
      const byte = reader.byte(start - BYTES_BEFORE + i);
      this.#bytes[i] = reader.isMissing ? MISSING : byte;
    }
  }

  #begins(module: MachineModule, at: number): boolean {
    const state = this.#state;
    const { sp, name } = this.#machine;
    const decoder = this.#decoders[name as X86Machine];
    state.begin(sp);
    this.#reader.isMissing = false;
    for (let i = 0, svma = at; i < MAX_FIRST_INSTRUCTIONS; i++) {
      module.code.effort.enteredInstructions++;
      const flow = decoder.decode(this.#reader, svma, state);
      svma += decoder.sizeBytes;
      if (this.#reader.isMissing || !(flow === 'next' || (flow === 'call' && this.#tellsWhereCodeIs(module, svma)))) return false;
      if (state.offsets[sp] < 0) return true;
    }
    return false;
  }

  /** Whether a call right before an svma only tells i386 code where it is: that may come before room is made on the stack. */
  #tellsWhereCodeIs(module: MachineModule, svma: number): boolean {
    return this.#machine.name === 'i386' && this.#i386Callees.onlyChangedBefore(module, svma) >= 0;
  }

  /** Whether a function may have ended before a byte of the block. */
  #ends(i: number): boolean {
    const bytes = this.#bytes;
    const last = bytes[i - 1];
    if (last === RET || last === INT3 || bytes[i - 2] === SHORT_JUMP || this.#has(i - 6, JUMP_BY_WORD)) return true;
    const isI386 = this.#machine.name === 'i386';
    const far = bytes[i - 5];
    // After a call, i386's code often makes room for the arguments of the next one.
    if (far === JUMP || (isI386 ? bytes[i - 3] === RET_POPPING && last === 0 : far === CALL)) return true;
    // Padding ends in one of two bytes.
    const padding = isI386 ? I386_PADDING : PADDING;
    return i % ALIGNMENT === BYTES_BEFORE % ALIGNMENT && (last === NOP || last === 0) && padding.some((nop) => this.#has(i - nop.length, nop));
  }

  #has(i: number, code: readonly number[]): boolean {
    return code.every((byte, k) => this.#bytes[i + k] === byte);
  }
}
