import { type ByteView, hexOf } from '../../bytes/byte-view.ts';
import * as abi from '../constants.ts';
import type { FeatureReaders, SectionReader } from './section-reader.ts';

/** A piece of machine code that a BPF program was compiled to. */
export interface BpfFunction {
  /** Run-time address. */
  readonly address: bigint;
  readonly sizeBytes: number;
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
      section.skip(sizeBytes);
      return { id, sizeBytes };
    });
  },
};

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
} as const;
const NAME_BYTES = 16;
/** Up to what is read of it. */
const INFO_BYTES = 132;

/** Sizes of the struct and of the data, which arrays are there, the struct, the data. */
function readProgram(section: SectionReader): BpfProgram {
  const infoBytes = section.u32();
  const dataBytes = section.u32();
  section.u64();
  if (infoBytes < INFO_BYTES) throw new RangeError('bpf_prog_info is too small');
  const at = section.skip(infoBytes);
  const data = section.skip(dataBytes);
  const { view } = section;
  return {
    id: view.u32(at + INFO.id),
    type: view.u32(at + INFO.type),
    name: view.text(at + INFO.name, at + INFO.name + NAME_BYTES),
    tag: hexOf(view.bytes.subarray(at + INFO.tag, at + INFO.tag + 8)),
    functions: readFunctions(view, at, data, dataBytes),
    jitedBytes: view.u32(at + INFO.jitedBytes),
    xlatedBytes: view.u32(at + INFO.xlatedBytes),
    btfId: view.u32(at + INFO.btfId),
  };
}

function readFunctions(view: ByteView, at: number, data: number, dataBytes: number): BpfFunction[] {
  const count = Math.min(view.u32(at + INFO.functionCount), view.u32(at + INFO.functionSizeCount));
  const addresses = view.u64(at + INFO.functionAddresses);
  const sizes = view.u64(at + INFO.functionSizes);
  if (addresses + count * 8 > dataBytes || sizes + count * 4 > dataBytes) return [];
  return Array.from({ length: count }, (_, i) => ({ address: view.big(data + addresses + i * 8), sizeBytes: view.u32(data + sizes + i * 4) }));
}
