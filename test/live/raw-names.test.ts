import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { announceSkipped, lastLines, makeTempDir, recordWithPerf, removeTempDir, runTool, whyMissing, whyNoRecording } from '../support/perf/perf-tool.ts';
import { runMain } from '../support/programs/run-main.ts';

const whyNot = whyNoRecording() ?? whyMissing('gcc');
if (whyNot !== undefined) announceSkipped('names that are not UTF-8', whyNot);

/** The kernel cuts the thread's name at 15 bytes, in the middle of its last character. */
const SOURCE = `#include <sys/prctl.h>
volatile double sum;
__attribute__((noinline)) void NAME(void) { for (int i = 0; i < 30000000; i++) sum += i; }
int main(void) { prctl(PR_SET_NAME, "\\xff\\303\\244\\303\\244\\303\\244\\303\\244\\303\\244\\303\\244\\303\\244\\303\\244"); NAME(); return 0; }
`;

describe.skipIf(whyNot !== undefined)('names that are not UTF-8', () => {
  let dir = '';
  let file = '';
  beforeAll(() => {
    dir = makeTempDir();
    file = join(dir, 'perf.data');
    writeFileSync(join(dir, 'program.c'), SOURCE);
    for (const byte of ['ff', 'fe']) {
      const built = runTool('gcc', ['-O1', '-g', `-DNAME=work_${byte}`, '-o', join(dir, 'program'), join(dir, 'program.c')]);
      if (built.status !== 0) throw new Error(`gcc: ${lastLines(built.stderr)}`);
      const place = Buffer.from(`${dir}/dir-@`, 'latin1');
      place[place.length - 1] = Number.parseInt(byte, 16);
      mkdirSync(place);
      renameSync(join(dir, 'program'), Buffer.concat([place, Buffer.from('/program')]));
    }
    const workload = '"$0/dir-$(printf \'\\377\')/program"; "$0/dir-$(printf \'\\376\')/program"';
    recordWithPerf(['-e', 'cpu-clock', '-F', '1999', '-g', '-o', file, '--', 'sh', '-c', workload, dir]);
  });
  afterAll(() => removeTempDir(dir));

  test.each([[[]], [['-F', 'comm,tid,time,event,period']]])('are printed as by perf, byte by byte: script %j', async (fields) => {
    const perf = spawnSync('perf', ['script', '-f', '-i', file, ...fields], { env: { ...process.env, LC_ALL: 'C', PERF_CONFIG: '/dev/null' } });
    expect(perf.stdout.includes(Buffer.from('\xff\xc3\xa4', 'latin1'))).toBe(true);
    const { stdout } = await runMain([file, '-t', 'script', '-o', '-', '--compat', 'perf', ...fields]);
    expect(stdout.equals(perf.stdout)).toBe(true);
  });

  test('of directories tell two binaries apart, whose functions are both named', async () => {
    const folded = join(dir, 'out.folded');
    const { status, stderr } = await runMain([file, '--explain-symbols', '-o', folded]);
    expect(status).toBe(0);
    for (const byte of ['ff', 'fe']) expect(stderr).toMatch(new RegExp(`^  used +/.*/dir-\\\\x${byte}/program$`, 'm'));
    const text = readFileSync(folded, 'latin1');
    for (const name of ['work_ff', 'work_fe']) expect(text).toContain(`;${name} `);
    // On a busy machine, the kernel may have more samples than these programs.
    const { stdout } = await runMain(['report', file, '--sort', 'dso,function']);
    const rows = stdout.toString().match(/\/dir-.* work_.*/g);
    expect(rows?.sort()).toEqual([expect.stringMatching(/^\/dir-\\xfe\/program +work_fe$/), expect.stringMatching(/^\/dir-\\xff\/program +work_ff$/)]);
  });
});
