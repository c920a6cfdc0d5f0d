import type { ReadProfileOptions } from '../../../../src/pipeline/read-profile.ts';
import { type Decoded, decode, type PlainSample } from '../../readers/decode.ts';
import { DUMPING, dumpedStack } from './dumped-stack.ts';
import { type AttrSpec, encodeFile, type RecordSpec, record, type SampleFields } from './perf-encoder.ts';

// Recordings of a process that runs a program with a library, neither of which exists unless a test makes it: its stacks were dumped, and its functions keep
// frame pointers.

export const FEATURES = { arch: 'x86_64' };
export const APP = '/bin/app';
export const LIBRARY = '/lib/libwork.so';
/** The outermost function's return address, in {@link APP}. */
export const MAIN = 0x400100n;

/** A map of 64 KB of a file. */
export function mapped(time: bigint, addr: bigint, filename: string, pid = 100): RecordSpec {
  return record.mmap2({ pid, addr, len: 0x10000n, pgoff: 0n, filename }, { sampleId: { time } });
}

/** The maps of {@link APP} and {@link LIBRARY}. */
export function start(): RecordSpec[] {
  return [mapped(1n, 0x400000n, APP), mapped(2n, 0x500000n, LIBRARY)];
}

/** A sample whose stack has these addresses, from the leaf on. */
export function sample(time: bigint, ips: readonly bigint[], fields: SampleFields = {}): RecordSpec {
  return record.sample({ time, ip: ips[0], pid: 100, callchain: [], ...dumpedStack(ips, ips.length, 16), ...fields });
}

/** What is decoded from a file of these records. */
export async function decodeAll(records: readonly RecordSpec[], options: ReadProfileOptions = {}, attr: AttrSpec = DUMPING): Promise<Decoded> {
  return decode(encodeFile({ attrs: [attr], records, features: FEATURES }), options);
}

/** `time: leaf caller caller`, with brackets around the address of a frame without a file. */
export function shown(samples: readonly PlainSample[]): string[] {
  return samples.map(
    ({ time, frames }) => `${time}: ${frames.map(({ dso, address }) => (dso === undefined ? `[${address}]` : address.toString(16))).join(' ')}`,
  );
}
