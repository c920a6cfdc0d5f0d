import { type ByteView, hexOf } from '../../base/bytes/byte-view.ts';
import type { FeatureReaders, SectionReader } from '../../base/bytes/section-reader.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import * as abi from '../abi/constants.ts';
import { readBtfString, readFunctionNames } from './btf.ts';

/** A piece of machine code that a BPF program was compiled to. */
export interface BpfFunction {
  /** Run-time address. */
  readonly address: bigint;
  readonly sizeBytes: number;
  /** Its own tag, of the same kind as the program's; absent if the kernel did not report it. */
  readonly tag?: string;
  /** Its type in the BTF object of the program; 0 if there is none. */
  readonly typeId: number;
  /** Its full name, from that type; absent if the recording does not hold the object. */
  name?: string;
}

/** Which source lines a BPF program's machine code comes from: run-time addresses, usually ascending, each with the line of the code from there on. */
export interface BpfLines {
  /** Signed doubles. */
  readonly addresses: Float64Array;
  readonly lines: Uint32Array;
  readonly columns: Uint32Array;
  /** Where the file's name is among the strings of the program's BTF object. */
  readonly fileNameOffsets: Uint32Array;
  /** Names by those offsets; empty if the recording does not hold the object. */
  readonly fileNames: Map<number, string>;
}

/** A BPF program that was loaded while perf recorded. Only the size of its code is kept. */
export interface BpfProgram {
  readonly id: number;
  /** BPF_PROG_TYPE_* (bpf.h). */
  readonly type: number;
  /** At most 15 bytes of its name. */
  readonly name: string;
  /** Lower-case hex of 8 bytes: which code it is. */
  readonly tag: string;
  /** The program itself and what it calls. Empty if the kernel did not show addresses. */
  readonly functions: readonly BpfFunction[];
  readonly jitedBytes: number;
  readonly xlatedBytes: number;
  /** BTF object that describes it; 0 for none. */
  readonly btfId: number;
  /** Absent if the program was compiled without them. */
  readonly lines?: BpfLines;
}

/** BPF programs and their types. */
export interface BpfFeatures {
  bpfPrograms?: readonly BpfProgram[];
  /** BTF objects and their bytes. */
  bpfBtf?: readonly { readonly id: number; readonly sizeBytes: number }[];
}

/** Source: the perf tool's description of its file format; bpf.h, struct bpf_prog_info. */
export const BPF_READERS: FeatureReaders<BpfFeatures> = {
  [abi.HEADER_BPF_PROG_INFO]: (features, section) => {
    const programs: BpfProgram[] = [];
    features.bpfPrograms = programs;
    section.fill(programs, section.u32(), () => readProgram(section));
  },
  [abi.HEADER_BPF_BTF]: (features, section) => {
    const objects: { id: number; sizeBytes: number }[] = [];
    features.bpfBtf = objects;
    const described = groupByBtf(features.bpfPrograms ?? []);
    section.fill(objects, section.u32(), () => {
      const id = section.u32();
      const sizeBytes = section.u32();
      const at = section.skip(sizeBytes);
      const programs = described.get(id) ?? [];
      described.delete(id);
      nameFunctions(programs, (wanted) => readFunctionNames(section.view, at, sizeBytes, wanted));
      nameFiles(programs, (offset) => readBtfString(section.view, at, sizeBytes, offset));
      return { id, sizeBytes };
    });
  },
};

/** Programs by their BTF objects: they are read before the types that describe them. */
function groupByBtf(programs: readonly BpfProgram[]): Map<number, BpfProgram[]> {
  const groups = new Map<number, BpfProgram[]>();
  for (const program of programs) {
    const group = groups.get(program.btfId);
    if (group === undefined) groups.set(program.btfId, [program]);
    else group.push(program);
  }
  return groups;
}

function nameFunctions(programs: readonly BpfProgram[], read: (wanted: ReadonlySet<number>) => ReadonlyMap<number, string>): void {
  const functions = programs.flatMap((program) => program.functions);
  const wanted = new Set(functions.map(({ typeId }) => typeId));
  if (wanted.size === 0) return;
  const names = read(wanted);
  for (const one of functions) {
    const name = names.get(one.typeId);
    if (name !== undefined) one.name = name;
  }
}

function nameFiles(programs: readonly BpfProgram[], read: (offset: number) => string): void {
  for (const { lines } of programs) {
    if (lines === undefined) continue;
    for (const offset of [...new Set(lines.fileNameOffsets)].slice(0, MAX_FILE_NAMES)) lines.fileNames.set(offset, read(offset));
  }
}

/** Offsets in struct bpf_prog_info (bpf.h). Arrays are given by their offset in the data after the struct. */
const INFO = {
  type: 0,
  id: 4,
  tag: 8,
  jitedBytes: 16,
  xlatedBytes: 20,
  name: 64,
  functionCount: 104,
  functionSizeCount: 108,
  functionAddresses: 112,
  functionSizes: 120,
  btfId: 128,
  funcInfoBytes: 132,
  funcInfo: 136,
  funcInfoCount: 144,
  lineInfoCount: 148,
  lineInfo: 152,
  jitedLineInfo: 160,
  jitedLineInfoCount: 168,
  lineInfoBytes: 172,
  jitedLineInfoBytes: 176,
  functionTagCount: 180,
  functionTags: 184,
} as const;
const NAME_BYTES = 16;
const TAG_BYTES = 8;
const FUNC_INFO_BYTES = 8;
/** struct bpf_line_info: insn_off, file_name_off, line_off, line_col, of which the upper 22 bits are the line. */
const LINE_INFO_BYTES = 16;
/** Maximum number of a program's source files: it includes some of the kernel's headers. In a damaged recording, names may overlap. */
const MAX_FILE_NAMES = 256;
/** The struct up to the sizes of the code: all that the first kernels with it wrote. */
const MIN_INFO_BYTES = 24;

/** Reads the sizes of the struct and of the data, which arrays are there, the struct, the data. */
function readProgram(section: SectionReader): BpfProgram {
  const info = new ProgramInfo(section);
  const lines = linesOf(info);
  return {
    id: info.u32(INFO.id),
    type: info.u32(INFO.type),
    name: info.text(INFO.name, NAME_BYTES),
    tag: info.tagAt(info.start + INFO.tag),
    functions: functionsOf(info),
    jitedBytes: info.u32(INFO.jitedBytes),
    xlatedBytes: info.u32(INFO.xlatedBytes),
    btfId: info.u32(INFO.btfId),
    ...(lines !== undefined && { lines }),
  };
}

/** A struct bpf_prog_info, and the arrays that it describes. Older kernels wrote less of the struct: fields that it does not have are 0, and arrays are missing. */
class ProgramInfo {
  readonly view: ByteView;
  /** Offset of the struct. */
  readonly start: number;
  readonly #sizeBytes: number;
  readonly #data: number;
  readonly #dataBytes: number;

  /** @throws PerfconvError `damaged` */
  constructor(section: SectionReader) {
    this.view = section.view;
    this.#sizeBytes = section.u32();
    this.#dataBytes = section.u32();
    section.u64();
    if (this.#sizeBytes < MIN_INFO_BYTES) throw new PerfconvError('damaged', 'bpf_prog_info is too small');
    this.start = section.skip(this.#sizeBytes);
    this.#data = section.skip(this.#dataBytes);
  }

  u32(field: number): number {
    return field + 4 <= this.#sizeBytes ? this.view.u32(this.start + field) : 0;
  }

  text(field: number, bytes: number): string {
    return field + bytes <= this.#sizeBytes ? this.view.text(this.start + field, this.start + field + bytes) : '';
  }

  /** Offset of the array that a field leads to; −1 if the data do not hold all of it. */
  arrayAt(field: number, count: number, bytesEach: number): number {
    const start = field + 8 <= this.#sizeBytes ? this.view.u64(this.start + field) : 0;
    return start + count * bytesEach <= this.#dataBytes ? this.#data + start : -1;
  }

  /** The tag at an offset of the view. */
  tagAt(offset: number): string {
    return hexOf(this.view.bytes.subarray(offset, offset + TAG_BYTES));
  }
}

function functionsOf(info: ProgramInfo): BpfFunction[] {
  const { view } = info;
  const count = Math.min(info.u32(INFO.functionCount), info.u32(INFO.functionSizeCount));
  const addresses = info.arrayAt(INFO.functionAddresses, count, 8);
  const sizes = info.arrayAt(INFO.functionSizes, count, 4);
  if (addresses < 0 || sizes < 0) return [];
  const tags = info.u32(INFO.functionTagCount) === count ? info.arrayAt(INFO.functionTags, count, TAG_BYTES) : -1;
  // struct bpf_func_info: insn_off, type_id.
  const funcInfoBytes = info.u32(INFO.funcInfoBytes);
  const hasTypes = info.u32(INFO.funcInfoCount) === count && funcInfoBytes >= FUNC_INFO_BYTES;
  const types = hasTypes ? info.arrayAt(INFO.funcInfo, count, funcInfoBytes) : -1;
  const functions: BpfFunction[] = [];
  for (let i = 0; i < count; i++) {
    functions.push({
      address: view.big(addresses + i * 8),
      sizeBytes: view.u32(sizes + i * 4),
      ...(tags >= 0 && { tag: info.tagAt(tags + i * TAG_BYTES) }),
      typeId: types < 0 ? 0 : view.u32(types + i * funcInfoBytes + 4),
    });
  }
  return functions;
}

/** undefined if the program was compiled without lines. */
function linesOf(info: ProgramInfo): BpfLines | undefined {
  const { view } = info;
  const count = info.u32(INFO.lineInfoCount);
  const rowBytes = info.u32(INFO.lineInfoBytes);
  const hasLines = count > 0 && count === info.u32(INFO.jitedLineInfoCount) && rowBytes >= LINE_INFO_BYTES && info.u32(INFO.jitedLineInfoBytes) === 8;
  const rows = hasLines ? info.arrayAt(INFO.lineInfo, count, rowBytes) : -1;
  const addresses = hasLines ? info.arrayAt(INFO.jitedLineInfo, count, 8) : -1;
  if (rows < 0 || addresses < 0) return undefined;
  const lines = {
    addresses: new Float64Array(count),
    lines: new Uint32Array(count),
    columns: new Uint32Array(count),
    fileNameOffsets: new Uint32Array(count),
    fileNames: new Map<number, string>(),
  };
  for (let i = 0; i < count; i++) {
    const lineAndColumn = view.u32(rows + i * rowBytes + 12);
    lines.addresses[i] = view.i64(addresses + i * 8);
    lines.lines[i] = lineAndColumn >>> 10;
    lines.columns[i] = lineAndColumn & 0x3ff;
    lines.fileNameOffsets[i] = view.u32(rows + i * rowBytes + 4);
  }
  return lines;
}
