import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { framesOf, kernelMap, LIST, sample, TEXT } from '../../support/builders/recordings/guest-kernels.ts';
import { encodeFile } from '../../support/builders/recordings/perf-encoder.ts';
import { announceSkipped, runTool, whyNoPerf } from '../../support/perf/perf-tool.ts';

const whyNot = whyNoPerf();
if (whyNot !== undefined) announceSkipped('comparison of kernels of virtual machines with perf', whyNot);

it.skipIf(whyNot !== undefined)('kernels of virtual machines have the same names as in perf report', async () => {
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
    const rows = [...stdout.matchAll(/^ +[\d.]+% +(\d+) +(\[\S+\]) +\[g\] (\S+)/gm)].map(([, count, dso, name]) => [`${name} ${dso}`, Number(count)] as const);
    const own = new Map<string, number>();
    for (const frame of frames) own.set(frame, (own.get(frame) ?? 0) + 1);
    expect(new Map(rows)).toEqual(own);
    expect(own.size).toBe(3);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
