import { ByteFields } from '../byte-fields.ts';

/** A line number program to be made: the header's fields, and opcodes. */
export interface LineProgramPlan {
  readonly version: 2 | 3 | 4 | 5;
  /** The 64-bit format. */
  readonly is64?: boolean;
  readonly littleEndian?: boolean;
  readonly addressSize?: 4 | 8;
  readonly minimumInstructionLength?: number;
  readonly maximumOperations?: number;
  readonly lineBase?: number;
  readonly lineRange?: number;
  /** Operand counts of the standard opcodes; default those of DWARF 3. */
  readonly opcodeLengths?: readonly number[];
  readonly directories?: readonly string[];
  /** Name and index of the directory. */
  readonly files?: readonly (readonly [string, number])[];
  /** Instead of directories and files: everything after the opcode lengths. */
  readonly tables?: (fields: ByteFields) => void;
  readonly program: (program: LineProgramWriter) => void;
  /** What is added to the true length of the header. */
  readonly headerLengthLie?: number;
  /** What is added to the true length of the unit. */
  readonly unitLengthLie?: number;
}

const DWARF3_OPCODE_LENGTHS = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];

/** Opcodes by the standard's names (DWARF 5, 6.2.5). */
export class LineProgramWriter extends ByteFields {
  readonly #plan: LineProgramPlan;

  constructor(plan: LineProgramPlan) {
    super(plan.littleEndian ?? true);
    this.#plan = plan;
  }

  copy(): this {
    return this.bytes(1);
  }

  advancePc(operations: number): this {
    return this.bytes(2).uleb(operations);
  }

  advanceLine(lines: number): this {
    return this.bytes(3).sleb(lines);
  }

  setFile(file: number): this {
    return this.bytes(4).uleb(file);
  }

  setColumn(column: number): this {
    return this.bytes(5).uleb(column);
  }

  constAddPc(): this {
    return this.bytes(8);
  }

  fixedAdvancePc(bytes: number): this {
    return this.bytes(9).u16(bytes);
  }

  /** The special opcode that advances by these amounts. */
  special(operations: number, lines: number): this {
    const { lineBase = -5, lineRange = 14, opcodeLengths = DWARF3_OPCODE_LENGTHS } = this.#plan;
    return this.bytes(opcodeLengths.length + 1 + (lines - lineBase) + lineRange * operations);
  }

  extended(opcode: number, ...operands: readonly number[]): this {
    return this.bytes(0)
      .uleb(1 + operands.length)
      .bytes(opcode, ...operands);
  }

  setAddress(address: number | bigint): this {
    const { addressSize = 8 } = this.#plan;
    return this.bytes(0, 1 + addressSize, 2).uint(address, addressSize);
  }

  endSequence(): this {
    return this.extended(1);
  }
}

/** Makes a unit of `.debug_line`, following only the standard. */
export function makeLineProgram(plan: LineProgramPlan): Uint8Array<ArrayBuffer> {
  const { version, is64 = false, littleEndian = true, opcodeLengths = DWARF3_OPCODE_LENGTHS, headerLengthLie = 0, unitLengthLie = 0 } = plan;
  const fields = (): ByteFields => new ByteFields(littleEndian);
  const header = fields().bytes(plan.minimumInstructionLength ?? 1);
  if (version >= 4) header.bytes(plan.maximumOperations ?? 1);
  header.bytes(1, plan.lineBase ?? -5, plan.lineRange ?? 14, opcodeLengths.length + 1, ...opcodeLengths);
  if (plan.tables !== undefined) plan.tables(header);
  else putTables(header, plan);
  const program = new LineProgramWriter(plan);
  plan.program(program);
  const length = (value: number): Uint8Array =>
    fields()
      .uint(value, is64 ? 8 : 4)
      .done();
  const unit = fields().u16(version);
  if (version >= 5) unit.bytes(plan.addressSize ?? 8, 0);
  unit
    .put(length(header.length + headerLengthLie))
    .put(header.done())
    .put(program.done());
  const start = is64 ? fields().u32(0xffff_ffff) : fields();
  return start
    .put(length(unit.length + unitLengthLie))
    .put(unit.done())
    .done();
}

function putTables(header: ByteFields, { version, directories = [], files = [] }: LineProgramPlan): void {
  if (version >= 5) {
    // One field, a path as text; then two, the other the directory as one byte.
    header
      .bytes(1, 1, 0x08)
      .uleb(directories.length)
      .text(...directories);
    header.bytes(2, 1, 0x08, 2, 0x0b).uleb(files.length);
    for (const [name, directory] of files) header.text(name).bytes(directory);
    return;
  }
  header.text(...directories).bytes(0);
  for (const [name, directory] of files) header.text(name).uleb(directory, 0, 0);
  header.bytes(0);
}
