import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AttrSpec, encodeFile, record } from '../../support/builders/recordings/perf-encoder.ts';
import { announceSkipped, makeTempDir, recordWithPerf, removeTempDir, runTool, whyNoPerf, whyNoRecording } from '../../support/perf/perf-tool.ts';
import { convert } from '../../support/programs/perfconv-tool.ts';

// Registers of samples against perf script: of many machines in encoded recordings, and in one of this machine.

const whyNot = whyNoPerf();
if (whyNot !== undefined) announceSkipped('registers of samples against perf script', whyNot);
const whyNotRecorded = whyNot ?? whyNoRecording(['-I']);
if (whyNotRecorded !== undefined) announceSkipped('recorded registers against perf script', whyNotRecorded);

/** Machines whose registers perf 6.1 names. */
const MACHINES = ['x86_64', 'i686', 'aarch64', 'armv7l', 's390x', 'ppc64le', 'ppc', 'mips64', 'mips', 'sparc64'];
const ALL_BITS = (1n << 64n) - 1n;

let dir: string;
beforeAll(() => {
  dir = makeTempDir();
});
afterAll(() => removeTempDir(dir));

function expectSameText(file: string, fields: string): void {
  const naming = ['--no-inline', '-F', fields];
  const perf = runTool('perf', ['script', '-f', '-i', file, ...naming]).stdout;
  expect(perf).toContain(' ABI:');
  expect(convert([file, '-t', 'script', '--compat', 'perf', ...naming, '-o', '-']).stdout.split('\n')).toEqual(perf.split('\n'));
}

describe('registers of samples', () => {
  test.for(MACHINES)('have the names that perf script gives them: %s', (arch, { skip }) => {
    if (whyNot !== undefined) skip(whyNot);
    const attr: AttrSpec = {
      name: 'cycles',
      ids: [7n],
      sampleType: ['ip', 'tid', 'time', 'regsUser', 'regsIntr'],
      sampleRegsUser: ALL_BITS,
      sampleRegsIntr: 5n,
    };
    const regs = Array.from({ length: 64 }, (_, bit) => BigInt(bit) * 0x1111_0001n);
    const sample = { ip: 0x401000n, pid: 1, tid: 1, time: 5n };
    const records = [
      record.sample({ ...sample, regsUser: { abi: 2, regs }, regsIntr: { abi: 2, regs: [ALL_BITS, 0n] } }),
      record.sample({ ...sample, regsUser: { abi: 1, regs }, regsIntr: { abi: 0 } }),
      record.sample({ ...sample, regsUser: { abi: 0 }, regsIntr: { abi: 1, regs: [1n, 2n] } }),
      record.sample({ ...sample, regsUser: { abi: 0 }, regsIntr: { abi: 0 } }),
    ];
    const file = join(dir, `${arch}.data`);
    writeFileSync(file, encodeFile({ attrs: [attr], records, features: { arch } }));
    expectSameText(file, 'ip,iregs,uregs');
    expectSameText(file, 'tid,uregs');
  });

  test('of this machine are printed as perf script does, after stacks and alone', ({ skip }) => {
    if (whyNotRecorded !== undefined) skip(whyNotRecorded);
    const file = join(dir, 'recorded.data');
    recordWithPerf(['-e', 'cpu-clock', '-F', '4000', '-I', '--call-graph', 'dwarf,512', '-o', file, '--', 'sh', '-c', 'seq 200000 | sort -r']);
    for (const fields of ['+iregs,+uregs', 'comm,ip,sym,uregs', 'comm,iregs']) expectSameText(file, fields);
  });
});
