import { Diagnostics } from '../../../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../../../src/base/streams/byte-source.ts';
import { readProfile } from '../../../../src/pipeline/read-profile.ts';
import { Symbolizer, type SymbolizerOptions } from '../../../../src/symbolizer/symbolizer.ts';
import { MadeFiles } from '../made-symbol-files.ts';
import { context, encodeFile, misc, type RecordSpec, record } from './perf-encoder.ts';

export const TEXT = 0xffff_ffff_8100_0000n;
export const MODULE = 0xffff_ffff_c000_0000n;
export const inGuest = { misc: misc.guestKernel };
export const LIST = 'ffffffff81000000 T _text\nffffffff81000100 T guest_one\nffffffff81000200 T guest_two\nffffffffc0000000 t gmod_one\t[gmod]\n';

export function kernelMap(pid: number, start: bigint, pgoff = start): RecordSpec {
  const filename = pid === 0 ? '[guest.kernel.kallsyms]_text' : `[guest.kernel.kallsyms.${pid}]_text`;
  return record.mmap({ pid, tid: 0, addr: start, len: 0x100_0000n, pgoff, filename }, inGuest);
}

export const moduleMap = (pid: number, start: bigint): RecordSpec => record.mmap({ pid, tid: 0, addr: start, len: 0x2000n, filename: '[gmod]' }, inGuest);

/** Leaf functions and DSOs of all samples, in order of time, and the diagnostics. */
export async function framesOf(records: readonly RecordSpec[], options: Partial<SymbolizerOptions> = {}) {
  const files = new MadeFiles();
  files.content.set('/guest.kallsyms', new TextEncoder().encode(LIST));
  files.content.set('/guest.modules', new TextEncoder().encode('gmod 8192 0 - Live 0xffffffffc0000000\n'));
  const diagnostics = new Diagnostics();
  const attrs = [{ name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'callchain'], flags: ['sampleIdAll'] }] as const;
  const bytes = encodeFile({ attrs: [...attrs], records: [...records] });
  const symbolizer = new Symbolizer(files, { debugDirs: [], compatPerf: false, ...options }, diagnostics);
  const { profile } = await readProfile(new BufferSource(bytes, 'perf.data.guest'), { keepSamples: true, symbolizer }, diagnostics);
  const { samples, stacks, locations, functions, mappings, strings } = profile;
  const frames = Array.from({ length: samples!.size }, (_, row) => {
    const location = stacks.location(samples!.stack[row]);
    const mapping = locations.mapping(location);
    const line = locations.lineCount(location) > 0 ? locations.lineFunction(location, 0) : -1;
    return `${line < 0 ? '?' : strings.get(functions.name(line))} ${mapping < 0 ? '-' : mappings[mapping].name}`;
  });
  return { frames, diagnostics };
}

let time = 0n;
/** A time later than all earlier ones. */
export function nextTime(): bigint {
  return ++time;
}

export const sample = (pid: number, ip: bigint, mode: 'guestKernel' | 'guestUser' = 'guestKernel'): RecordSpec =>
  record.sample({ ip, pid, tid: pid, time: nextTime(), callchain: [context[mode], ip] }, { misc: misc[mode] });
