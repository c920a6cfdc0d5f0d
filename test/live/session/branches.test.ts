import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AttrSpec, encodeFile, misc, record } from '../../support/builders/recordings/perf-encoder.ts';
import { announceSkipped, makeTempDir, removeTempDir, runTool, whyNoPerf } from '../../support/perf/perf-tool.ts';
import { convert } from '../../support/programs/perfconv-tool.ts';

// Branches of samples against perf script, in an encoded recording, since few machines can record them, and in published ones.

const whyNot = whyNoPerf();
if (whyNot !== undefined) announceSkipped('branches of samples against perf script', whyNot);
const corpus = process.env.PERFCONV_CORPUS ?? '';
const whyNoCorpus = whyNot ?? (corpus !== '' && existsSync(corpus) ? undefined : '$PERFCONV_CORPUS is not set');
if (whyNoCorpus !== undefined) announceSkipped('branches of published samples against perf script', whyNoCorpus);

const KERNEL = 0xffffffff81000000n;
const FIELDS = ['brstack', 'brstacksym', 'brstackoff'].flatMap((field) => [`ip,${field}`, `ip,dso,${field}`, `ip,sym,symoff,dso,${field}`]);

let dir: string;
beforeAll(() => {
  dir = makeTempDir();
});
afterAll(() => removeTempDir(dir));

/** A symbol every 4 KB from an address on. */
function writeKallsyms(start: bigint): string {
  const lines = Array.from({ length: 4096 }, (_, i) => `${(start + BigInt(i) * 0x1000n).toString(16)} T ${i === 0 ? '_text' : `fn_${i}`}\n`);
  const path = join(dir, 'kallsyms');
  writeFileSync(path, lines.join(''));
  return path;
}

function texts(file: string, kallsyms: string, fields: string): { readonly own: string[]; readonly perf: string[] } {
  const naming = ['--no-inline', '--kallsyms', kallsyms];
  return {
    own: convert([file, '-t', 'script', '--compat', 'perf', ...naming, '-F', fields, '-o', '-']).stdout.split('\n'),
    perf: runTool('perf', ['script', '-f', '-i', file, ...naming, '-F', fields]).stdout.split('\n'),
  };
}

describe('branches of samples', () => {
  test.for(FIELDS)('are printed as perf script does: -F %s', (fields, { skip }) => {
    if (whyNot !== undefined) skip(whyNot);
    const attr: AttrSpec = {
      name: 'cycles',
      period: 100n,
      ids: [7n],
      sampleType: ['ip', 'tid', 'time', 'period', 'branchStack'],
      flags: ['sampleIdAll', 'mmap', 'comm'],
    };
    const app = { pid: 100, addr: 0x400000n, len: 0x10000n, pgoff: 0x1000n };
    const entries = [
      { from: 0x400010n, to: 0x400124n, predicted: true, cycles: 5 },
      { from: 0x400124n, to: KERNEL + 0x1104n, type: 7, mispred: true, inTx: true },
      { from: KERNEL + 0x5210n, to: 0x123n, abort: true },
      { from: 0n, to: 0n },
    ];
    const records = [
      record.mmap({ pid: -1, tid: 0, addr: KERNEL, len: 0x1000000n, pgoff: KERNEL, filename: '[kernel.kallsyms]_text' }, { misc: misc.kernel }),
      record.comm({ pid: 100, comm: 'app' }, { sampleId: { time: 1n } }),
      record.mmap2({ ...app, filename: '/bin/no-such-app', ino: 5n }, { sampleId: { time: 2n } }),
      record.sample({ ip: 0x400010n, pid: 100, time: 10n, period: 100n, branchStack: { entries } }, { misc: misc.user }),
      record.mmap2({ ...app, filename: '/bin/no-such-other', ino: 6n }, { sampleId: { time: 20n } }),
      record.sample({ ip: KERNEL + 0x1010n, pid: 100, time: 30n, period: 100n, branchStack: { entries } }, { misc: misc.kernel }),
    ];
    const file = join(dir, 'branches.data');
    writeFileSync(file, encodeFile({ attrs: [attr], records, features: { eventDesc: true } }));
    const { own, perf } = texts(file, writeKallsyms(KERNEL), fields);
    expect(perf.join('').length).toBeGreaterThan(100);
    expect(own).toEqual(perf);
  });

  // The kernel's map of the last one begins at 0, so that perf takes user code for the kernel's: only addresses are compared there.
  const files: [name: string, kernel: bigint, fields: readonly string[]][] = [
    ['quipper__perf.data.branch-4.14', 0xffffffffb4200000n, FIELDS],
    ['quipper__perf.data.branch_stack_spec', 0xffffffff9da00000n, FIELDS],
    ['autofdo__perf-kernel.data', KERNEL, FIELDS],
    ['quipper__perf.data.callgraph_and_branch-3.4', KERNEL, ['ip,brstack']],
  ];
  test.for(files.flatMap(([name, kernel, all]) => all.map((fields) => [name, fields, kernel] as const)))(
    'are printed as perf script does: %s -F %s',
    ([name, fields, kernel], { skip }) => {
      if (whyNoCorpus !== undefined) skip(whyNoCorpus);
      const { own, perf } = texts(join(corpus, 'files', name), writeKallsyms(kernel), fields);
      expect(own.length).toBe(perf.length);
      expect(own).toEqual(perf);
    },
  );
});
