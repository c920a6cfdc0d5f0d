import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BufferSource } from '../src/base/byte-source.ts';
import { Diagnostics } from '../src/base/diagnostics.ts';
import { readProfile } from '../src/pipeline/read-profile.ts';
import { Symbolizer, type SymbolizerOptions } from '../src/symbolizer/symbolizer.ts';
import { MadeFiles } from './support/made-symbol-files.ts';
import { context, encodeFile, misc, type RecordSpec, record } from './support/perf-encoder.ts';
import { hasPerf } from './support/perf-oracle.ts';
import { runTool } from './support/perf-tool.ts';

if (!hasPerf) console.warn('SKIPPED: comparison of kernels of virtual machines with perf, because perf does not run here');

const TEXT = 0xffff_ffff_8100_0000n;
const MODULE = 0xffff_ffff_c000_0000n;
const inGuest = { misc: misc.guestKernel };
const LIST = 'ffffffff81000000 T _text\nffffffff81000100 T guest_one\nffffffff81000200 T guest_two\nffffffffc0000000 t gmod_one\t[gmod]\n';

function kernelMap(pid: number, start: bigint, pgoff = start): RecordSpec {
  const filename = pid === 0 ? '[guest.kernel.kallsyms]_text' : `[guest.kernel.kallsyms.${pid}]_text`;
  return record.mmap({ pid, tid: 0, addr: start, len: 0x100_0000n, pgoff, filename }, inGuest);
}

const moduleMap = (pid: number, start: bigint): RecordSpec => record.mmap({ pid, tid: 0, addr: start, len: 0x2000n, filename: '[gmod]' }, inGuest);

/** Leaf functions and DSOs of all samples, in order of time, and what was found to say. */
async function framesOf(records: readonly RecordSpec[], options: Partial<SymbolizerOptions> = {}) {
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
const sample = (pid: number, ip: bigint, mode: 'guestKernel' | 'guestUser' = 'guestKernel'): RecordSpec =>
  record.sample({ ip, pid, tid: pid, time: ++time, callchain: [context[mode], ip] }, { misc: misc[mode] });

describe('kernels of virtual machines', () => {
  it('are named for a number of machines, and beyond that is said', async () => {
    const pids = Array.from({ length: 65 }, (_, i) => 1000 + i);
    const records = pids.flatMap((pid) => [kernelMap(pid, TEXT), sample(pid, TEXT + 0x110n)]);
    const { frames, diagnostics } = await framesOf(records, { guest: { kallsyms: '/guest.kallsyms' } });
    expect(frames.filter((frame) => frame.startsWith('guest_one ')).length).toBe(64);
    expect(diagnostics.count('guest-kernels-excess')).toBe(1);
  });

  it('are named from the lists given, moved to where they ran', async () => {
    const moved = TEXT + 0x1000_0000n;
    const records = [
      kernelMap(0, moved),
      moduleMap(0, MODULE + 0x4000n),
      sample(812, moved + 0x110n),
      sample(813, moved + 0x200n),
      sample(812, MODULE + 0x4010n),
    ];
    const { frames } = await framesOf(records, { guest: { kallsyms: '/guest.kallsyms', modules: '/guest.modules' } });
    expect(frames).toEqual(['guest_one [guest.kernel.kallsyms]', 'guest_two [guest.kernel.kallsyms]', 'gmod_one [gmod]']);
  });

  it('know where a module is though no sample lies in the kernel itself', async () => {
    const records = [kernelMap(0, TEXT + 0x1000_0000n), moduleMap(0, MODULE), sample(812, MODULE + 0x10n)];
    expect((await framesOf(records, { guest: { kallsyms: '/guest.kallsyms' } })).frames).toEqual(['? [gmod]']);
  });

  it('are each at its own addresses, and none at the addresses of the machine itself', async () => {
    const host = record.mmap({ pid: -1, tid: 0, addr: TEXT, len: 0x100_0000n, pgoff: TEXT, filename: '[kernel.kallsyms]_text' }, { misc: misc.kernel });
    const records = [
      host,
      kernelMap(812, TEXT),
      kernelMap(813, TEXT + 0x1000n),
      sample(812, TEXT + 0x1100n),
      sample(813, TEXT + 0x1100n),
      sample(814, TEXT + 0x1100n),
    ];
    const { frames } = await framesOf(records, { guest: { kallsyms: '/guest.kallsyms' }, kallsyms: '/guest.kallsyms' });
    expect(frames).toEqual(['guest_two [guest.kernel.kallsyms.812]', 'guest_one [guest.kernel.kallsyms.813]', '? -']);
  });

  it('follow a map that comes later', async () => {
    const at = (): RecordSpec => sample(812, TEXT + 0x110n);
    const before = at();
    const map = record.mmap(
      { pid: 0, tid: 0, addr: TEXT, len: 0x100_0000n, pgoff: TEXT, filename: '[guest.kernel.kallsyms]_text' },
      { ...inGuest, sampleId: { time: ++time } },
    );
    const { frames } = await framesOf([before, map, at()], { guest: { kallsyms: '/guest.kallsyms' } });
    expect(frames).toEqual(['? -', 'guest_one [guest.kernel.kallsyms]']);
  });

  it('without a list are not named, and what would help is said; their programs never are', async () => {
    const { frames, diagnostics } = await framesOf([kernelMap(0, TEXT), sample(812, TEXT + 0x110n), sample(812, 0x40_1000n, 'guestUser')]);
    expect(frames).toEqual(['? [guest.kernel.kallsyms]', '? -']);
    const said = diagnostics.list();
    expect(said.find(({ code }) => code === 'no-symbols')?.message).toContain('--guestkallsyms');
    expect(said.find(({ code }) => code === 'guest-code')?.message).toContain('not named');
  });

  it.skipIf(!hasPerf)('have the names that perf report has', async () => {
    const moved = TEXT + 0x1000_0000n;
    const ips = [0n, 0xffn, 0x100n, 0x1ffn, 0x200n, 0x240n].map((offset) => moved + offset);
    const records = [kernelMap(0, moved), ...ips.map((ip) => sample(812, ip))];
    const { frames } = await framesOf(records, { guest: { kallsyms: '/guest.kallsyms' } });
    const dir = mkdtempSync(join(tmpdir(), 'guest-'));
    try {
      const attrs = [{ name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'callchain'], flags: ['sampleIdAll'] }] as const;
      writeFileSync(join(dir, 'perf.data'), encodeFile({ attrs: [...attrs], records }));
      writeFileSync(join(dir, 'list'), LIST);
      writeFileSync(join(dir, 'modules'), '');
      const lists = [`--guestkallsyms=${join(dir, 'list')}`, `--guestmodules=${join(dir, 'modules')}`];
      const report = ['report', '-f', '-i', join(dir, 'perf.data'), '--stdio', '-g', 'none', '--no-children', '--sort', 'dso,sym', '-n'];
      const { stdout } = runTool('perf', ['kvm', '--guest', ...lists, ...report]);
      const rows = [...stdout.matchAll(/^ +[\d.]+% +(\d+) +(\[\S+\]) +\[g\] (\S+)/gm)].map(
        ([, count, dso, name]) => [`${name} ${dso}`, Number(count)] as const,
      );
      const own = new Map<string, number>();
      for (const frame of frames) own.set(frame, (own.get(frame) ?? 0) + 1);
      expect(new Map(rows)).toEqual(own);
      expect(own.size).toBe(3);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
