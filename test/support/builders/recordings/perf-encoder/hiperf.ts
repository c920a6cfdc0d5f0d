import { ByteWriter } from './byte-writer.ts';
import type { ForeignFeature } from './file.ts';
import type { RecordSpec } from './kernel-records.ts';

// What hiperf writes besides perf's records and features. Source of the layouts: hiperf's perf_file_format.cpp and unique_stack_table.h. It writes little-endian
// only.

/** A binary of HIPERF_FILES_SYMBOL. */
export interface HiperfFileSpec {
  readonly path: string;
  readonly type: number;
  /** Where its code begins; absent: unset, as for code that is in no ELF file. */
  readonly codeAddress?: bigint;
  readonly codeOffset?: bigint;
  readonly buildId?: string;
  readonly symbols?: readonly { readonly vaddr: bigint; readonly len: number; readonly name: string }[];
}

/** A node of HIPERF_FILES_UNISTACK_TABLE: an address, and the index of its caller's node; 0 for none. */
export interface HiperfNodeSpec {
  readonly index: number;
  readonly address: bigint;
  readonly caller: number;
}

export const hiperfFeatures = {
  /** The command line is one string. */
  cmdline: (text: string): ForeignFeature => ({ bit: 11, bytes: section((out) => writeString(out, text)) }),
  symbols: (files: readonly HiperfFileSpec[]): ForeignFeature => ({
    bit: 192,
    bytes: section((out) => {
      out.u32(files.length);
      for (const file of files) writeFile(out, file);
    }),
  }),
  workload: (text: string): ForeignFeature => ({ bit: 193, bytes: section((out) => writeString(out, text)) }),
  recordTime: (text: string): ForeignFeature => ({ bit: 194, bytes: section((out) => writeString(out, text)) }),
  offCpu: (): ForeignFeature => ({ bit: 195, bytes: section((out) => out.u64(1n)) }),
  /** With 20 bits, as in 2023, the section has the number of a later one. */
  stackTables: (tables: readonly { readonly pid: number; readonly nodes: readonly HiperfNodeSpec[] }[], indexBits: 20 | 23 = 23): ForeignFeature => ({
    bit: indexBits === 20 ? 196 : 197,
    bytes: section((out) => {
      out.u32(tables.length);
      for (const { pid, nodes } of tables) {
        out.u32(pid).u32(0x400000).u32(nodes.length);
        for (const { index, address, caller } of nodes) out.u32(index).u64(nodeOf(address, caller, indexBits));
      }
    }),
  }),
} as const;

/** 40 bits of the address, the caller's index, and one bit for addresses whose other bits are set. */
function nodeOf(address: bigint, caller: number, indexBits: number): bigint {
  return BigInt.asUintN(40, address) | (BigInt(caller) << 40n) | (address >> 63n === 1n ? 1n << BigInt(40 + indexBits) : 0n);
}

/** What `--dedup_stack` leaves of a sample without callchain: the index of the leaf's node, and the number of entries, after its fields. */
export function withStackId(sample: RecordSpec, leaf: number, count: number, indexBits: 20 | 23 = 23): RecordSpec {
  return {
    ...sample,
    writeBody: (out, attr) => {
      sample.writeBody(out, attr);
      out.u64(BigInt(leaf) | (BigInt(count) << BigInt(indexBits)));
    },
  };
}

function writeFile(out: ByteWriter, file: HiperfFileSpec): void {
  writeString(out, file.path);
  out
    .u32(file.type)
    .u64(file.codeAddress ?? 0xffff_ffff_ffff_ffffn)
    .u64(file.codeOffset ?? 0n);
  writeString(out, file.buildId ?? '');
  out.u32(file.symbols?.length ?? 0);
  for (const { vaddr, len, name } of file.symbols ?? []) {
    out.u64(vaddr).u32(len);
    writeString(out, name);
  }
}

/** A u32 with the size, NUL included, and the text. */
function writeString(out: ByteWriter, text: string): void {
  const bytes = new TextEncoder().encode(text);
  out
    .u32(bytes.length + 1)
    .raw(bytes)
    .u8(0);
}

function section(write: (out: ByteWriter) => void): Uint8Array {
  const out = new ByteWriter('little');
  write(out);
  return out.bytes();
}
