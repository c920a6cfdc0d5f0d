import { hexOf } from '../../bytes/byte-view.ts';
import * as abi from '../constants.ts';
import { readFunctionNames } from './btf.ts';
import type { FeatureReaders, SectionReader } from './section-reader.ts';

/** A piece of machine code that a BPF program was compiled to. */
export interface BpfFunction {
  /** Run-time address. */
  readonly address: bigint;
  readonly sizeBytes: number;
  /** Its own tag, as that of the program; absent where the kernel did not tell. */
  readonly tag?: string;
  /** Its type in the BTF object of the program; 0 where there is none. */
  readonly typeId: number;
  /** Its whole name, by that type; absent where the recording does not hold the object. */
  name?: string;
}

/** A BPF program that was loaded while perf recorded. Its code is measured, not kept. */
export interface BpfProgram {
  readonly id: number;
  /** BPF_PROG_TYPE_* (bpf.h). */
  readonly type: number;
  /** At most 15 bytes of its name. */
  readonly name: string;
  /** Lower-case hex of 8 bytes: which code it is. */
  readonly tag: string;
  /** The program itself and what it calls. Empty where the kernel did not show addresses. */
  readonly functions: readonly BpfFunction[];
  readonly jitedBytes: number;
  readonly xlatedBytes: number;
  /** BTF object that describes it; 0 for none. */
  readonly btfId: number;
}

/** BPF programs and their types. */
export interface BpfFeatures {
  bpfPrograms?: readonly BpfProgram[];
  /** BTF objects and the bytes they take. */
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
    section.fill(objects, section.u32(), () => {
      const id = section.u32();
      const sizeBytes = section.u32();
      const at = section.skip(sizeBytes);
      nameFunctions(features.bpfPrograms ?? [], id, (wanted) => readFunctionNames(section.view, at, sizeBytes, wanted));
      return { id, sizeBytes };
    });
  },
};

/** Programs are read before the types that describe them. */
function nameFunctions(programs: readonly BpfProgram[], btfId: number, read: (wanted: ReadonlySet<number>) => ReadonlyMap<number, string>): void {
  const functions = programs.filter((program) => program.btfId === btfId).flatMap((program) => program.functions);
  const wanted = new Set(functions.map(({ typeId }) => typeId));
  if (wanted.size === 0) return;
  const names = read(wanted);
  for (const one of functions) {
    const name = names.get(one.typeId);
    if (name !== undefined) one.name = name;
  }
}

/** Offsets in struct bpf_prog_info (bpf.h). Arrays are given by their offset in the data behind the struct. */
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
  functionTagCount: 180,
  functionTags: 184,
} as const;
const NAME_BYTES = 16;
const TAG_BYTES = 8;
const FUNC_INFO_BYTES = 8;
/** Up to the code's sizes: all that the first kernels with such a struct told. */
const MIN_INFO_BYTES = 24;

/** Sizes of the struct and of the data, which arrays are there, the struct, the data. */
function readProgram(section: SectionReader): BpfProgram {
  const infoBytes = section.u32();
  const dataBytes = section.u32();
  section.u64();
  if (infoBytes < MIN_INFO_BYTES) throw new RangeError('bpf_prog_info is too small');
  const { view } = section;
  const at = section.skip(infoBytes);
  const data = section.skip(dataBytes);
  // Older kernels told less: what their struct does not have is 0.
  const u32At = (offset: number): number => (offset + 4 <= infoBytes ? view.u32(at + offset) : 0);
  const arrayAt = (offset: number, count: number, bytesEach: number): number => {
    const start = offset + 8 <= infoBytes ? view.u64(at + offset) : 0;
    return start + count * bytesEach <= dataBytes ? data + start : -1;
  };
  const tagAt = (offset: number): string => hexOf(view.bytes.subarray(offset, offset + TAG_BYTES));

  const count = Math.min(u32At(INFO.functionCount), u32At(INFO.functionSizeCount));
  const addresses = arrayAt(INFO.functionAddresses, count, 8);
  const sizes = arrayAt(INFO.functionSizes, count, 4);
  const tags = u32At(INFO.functionTagCount) === count ? arrayAt(INFO.functionTags, count, TAG_BYTES) : -1;
  // struct bpf_func_info: insn_off, type_id.
  const funcInfoBytes = u32At(INFO.funcInfoBytes);
  const hasTypes = u32At(INFO.funcInfoCount) === count && funcInfoBytes >= FUNC_INFO_BYTES;
  const types = hasTypes ? arrayAt(INFO.funcInfo, count, funcInfoBytes) : -1;
  const functions: BpfFunction[] = [];
  for (let i = 0; i < count && addresses >= 0 && sizes >= 0; i++) {
    functions.push({
      address: view.big(addresses + i * 8),
      sizeBytes: view.u32(sizes + i * 4),
      ...(tags >= 0 && { tag: tagAt(tags + i * TAG_BYTES) }),
      typeId: types < 0 ? 0 : view.u32(types + i * funcInfoBytes + 4),
    });
  }
  return {
    id: u32At(INFO.id),
    type: u32At(INFO.type),
    name: INFO.name + NAME_BYTES <= infoBytes ? view.text(at + INFO.name, at + INFO.name + NAME_BYTES) : '',
    tag: tagAt(at + INFO.tag),
    functions,
    jitedBytes: u32At(INFO.jitedBytes),
    xlatedBytes: u32At(INFO.xlatedBytes),
    btfId: u32At(INFO.btfId),
  };
}
