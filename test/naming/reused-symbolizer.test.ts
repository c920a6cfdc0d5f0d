import { beforeEach, describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { RecordingMerger } from '../../src/pipeline/merge-recordings.ts';
import { readProfile } from '../../src/pipeline/read-profile.ts';
import { readingNeeds } from '../../src/pipeline/reading-needs.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { Symbolizer, type SymbolizerOptions } from '../../src/symbolizer/symbolizer.ts';
import { MadeFiles } from '../support/builders/made-symbol-files.ts';
import { context, encodeFile, misc, type RecordSpec, record } from '../support/builders/recordings/perf-encoder.ts';

/** Where the kernel and a module are in the list. */
const TEXT = 0xffff_ffff_8100_0000n;
const MODULE = 0xffff_ffff_c000_0000n;
/** How far the kernel moved in each boot. */
const SHIFTS = [0n, 0x1800_0000n, 0x200_0000n];

const kernelList = (name: string): string =>
  `ffffffff81000000 T _text\nffffffff81000100 T ${name}_one\nffffffff81000200 T ${name}_two\nffffffffc0000000 t ${name}_module\t[mod]\n`;

let files: MadeFiles;
beforeEach(() => {
  files = new MadeFiles();
  put('/lists/kallsyms', kernelList('listed'));
  put('/lists/modules', 'mod 8192 0 - Live 0xffffffffc0000000\n');
});

function put(path: string, text: string): void {
  files.content.set(path, new TextEncoder().encode(text));
}

function symbolizer(options: Partial<SymbolizerOptions> = {}): Symbolizer {
  return new Symbolizer(files, { debugDirs: [], compatPerf: false, kallsyms: '/lists/kallsyms', ...options }, new Diagnostics());
}

const kernelMap = (start: bigint): RecordSpec =>
  record.mmap({ pid: -1, tid: 0, addr: start, len: 0x100_0000n, pgoff: start, filename: '[kernel.kallsyms]_text' }, { misc: misc.kernel });
const moduleMap = (start: bigint): RecordSpec =>
  record.mmap({ pid: -1, tid: 0, addr: start, len: 0x2000n, filename: '/lib/modules/6.1.0/mod.ko' }, { misc: misc.kernel });
const guestMap = (pid: number, start: bigint): RecordSpec =>
  record.mmap({ pid, tid: 0, addr: start, len: 0x100_0000n, pgoff: start, filename: `[guest.kernel.kallsyms.${pid}]_text` }, { misc: misc.guestKernel });

function sample(ip: bigint, mode: 'kernel' | 'guestKernel' = 'kernel', pid = 9): RecordSpec {
  return record.sample({ ip, pid, tid: pid, time: 1n, callchain: [context[mode], ip] }, { misc: misc[mode] });
}

function recordingOf(...records: readonly RecordSpec[]): BufferSource {
  const attrs = [{ name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'callchain'], flags: ['sampleIdAll'] }] as const;
  return new BufferSource(encodeFile({ attrs: [...attrs], records: [...records], features: { osRelease: '6.1.0' } }), 'perf.data');
}

/** A boot whose kernel and module are `shift` and twice that away from where they are in the list; samples in their functions. */
function bootOf(shift: bigint): BufferSource {
  const [text, module] = [TEXT + shift, MODULE + 2n * shift];
  return recordingOf(kernelMap(text), moduleMap(module), sample(text + 0x110n), sample(text + 0x204n), sample(module + 0x20n));
}

/** The names and offsets of all locations. */
function namesOf({ locations, functions, strings }: Profile): string[] {
  return Array.from({ length: locations.size }, (_, location) => {
    const name = locations.lineCount(location) > 0 ? strings.get(functions.name(locations.lineFunction(location, 0))) : '?';
    return `${name}+${locations.symbolOffset(location)}`;
  });
}

async function framesOf(source: BufferSource, reused: Symbolizer, recording: { kcoreDir?: string } = {}): Promise<string[]> {
  return namesOf((await readProfile(source, { symbolizer: reused, ...recording }, new Diagnostics())).profile);
}

describe('one Symbolizer for several recordings', () => {
  it('names the functions of each kernel and its modules according to where they were in that boot', async () => {
    const reused = symbolizer();
    for (const shift of [...SHIFTS, SHIFTS[1]]) {
      expect(await framesOf(bootOf(shift), reused)).toEqual(['listed_one+16', 'listed_two+4', 'listed_module+32']);
    }
  });

  it('does so even if the recordings are merged', async () => {
    const reused = symbolizer();
    const needs = readingNeeds(['pprof'], {});
    const merger = new RecordingMerger({}, new Diagnostics());
    for (const shift of SHIFTS) await merger.add(bootOf(shift), `boot ${shift}`, needs, { symbolizer: reused }, new Diagnostics());
    expect(namesOf(merger.finish()).filter((name) => name.startsWith('?'))).toEqual([]);
  });

  it('does not apply the previous kernel to the modules of a recording without one', async () => {
    const alone = recordingOf(moduleMap(MODULE), sample(MODULE + 0x20n));
    const wanted = await framesOf(alone, symbolizer());
    const reused = symbolizer();
    await framesOf(bootOf(SHIFTS[1]), reused);
    expect(await framesOf(alone, reused)).toEqual(wanted);
    expect(wanted).toEqual(['listed_module+32']);
  });

  it('uses the list that came with each recording', async () => {
    const reused = new Symbolizer(files, { debugDirs: [], compatPerf: false }, new Diagnostics());
    for (const name of ['first', 'second']) put(`/${name}/kcore_dir/kallsyms`, kernelList(name));
    for (const name of ['first', 'second']) expect((await framesOf(bootOf(0n), reused, { kcoreDir: `/${name}/kcore_dir` }))[0]).toBe(`${name}_one+16`);
    expect((await framesOf(bootOf(0n), reused))[0]).toBe('?+-1');
  });

  it('tells apart virtual machines with the same pid, and limits their number per recording', async () => {
    const reused = symbolizer({ guest: { kallsyms: '/lists/kallsyms' } });
    for (const shift of SHIFTS) {
      const text = TEXT + shift;
      expect(await framesOf(recordingOf(guestMap(7, text), sample(text + 0x110n, 'guestKernel', 7)), reused)).toEqual(['listed_one+16']);
    }
    const pids = Array.from({ length: 40 }, (_, i) => 1000 + i);
    for (const add of [0, 100]) {
      const many = pids.flatMap((pid) => [guestMap(pid + add, TEXT), sample(TEXT + 0x110n, 'guestKernel', pid + add)]);
      expect(await framesOf(recordingOf(...many), reused)).toEqual(pids.map(() => 'listed_one+16'));
    }
  });

  it('asks again which files a process has mapped, because its pid may be reused', async () => {
    const reused = symbolizer();
    const identity = { pid: 7, tid: 7, addr: 0x40_0000n, len: 0x1000n, maj: 8, min: 1, ino: 4711n, filename: '/opt/app' };
    const recording = (): BufferSource => recordingOf(record.mmap2(identity, { misc: misc.user }), sample(0x40_0010n, 'kernel', 7), userSample());
    const userSample = (): RecordSpec =>
      record.sample({ ip: 0x40_0010n, pid: 7, tid: 7, time: 1n, callchain: [context.user, 0x40_0010n] }, { misc: misc.user });
    put('/proc/7/comm', 'app');
    put('/proc/7/maps', '00400000-00401000 r-xp 00000000 08:01 4711 /opt/app\n');
    for (let times = 0; times < 2; times++) await framesOf(recording(), reused);
    expect(files.asked.filter((path) => path === '/proc/7/maps')).toHaveLength(2);
  });
});
