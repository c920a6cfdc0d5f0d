import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventRecording } from '../support/builders/recordings/event-recording.ts';
import { encodeFile, encodePipe } from '../support/builders/recordings/perf-encoder.ts';
import { runMain } from '../support/programs/run-main.ts';

let dir: string;
const at = (name: string): string => join(dir, name);

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-diff-'));
  writeFileSync(at('old.data'), encodeFile(eventRecording(['cycles:P', 'page-faults'], [0x40_0010n, 0x40_0020n], '/old/app')));
  writeFileSync(at('new.data'), encodeFile(eventRecording(['cycles:u'], [0x40_0010n], '/new/app')));
  writeFileSync(at('new.pipe'), encodePipe(eventRecording(['cycles:u'], [0x40_0010n], '/new/app')));
  writeFileSync(at('other.data'), encodeFile(eventRecording(['instructions'], [0x40_0010n], '/new/app')));
  writeFileSync(at('broken.data'), 'not a recording');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('diff', () => {
  test('compares the events that both have, by the names of binaries, and names the others', async () => {
    const { status, stdout, stderr } = await runMain(['diff', at('old.data'), at('new.data')]);
    expect(status).toBe(0);
    expect(stdout.toString()).toMatch(
      /^# cycles:P and cycles:u: shares of .*\n# BASE old\.data: 2 samples, period 10\n# NEW new\.data: 1 sample, period 5 \(0\.500 × BASE\)\n/,
    );
    expect(stdout.toString()).toMatch(/\n100\.00 100\.00 {4}0\.00 .*\[app\] +app\n$/);
    expect(stderr).toContain('perfconv: warning: only BASE has samples of page-faults: not compared\n');
  });

  test('names the events that only one has, of each', async () => {
    writeFileSync(at('clocks.data'), encodeFile(eventRecording(['cycles', 'instructions'], [0x40_0010n], '/new/app')));
    const { stderr } = await runMain(['diff', at('old.data'), at('clocks.data')]);
    const warnings = stderr.split('\n').filter((line) => line.includes('not compared'));
    expect(warnings).toEqual([
      'perfconv: warning: only BASE has samples of page-faults: not compared',
      'perfconv: warning: only NEW has samples of instructions: not compared',
    ]);
  });

  test('prints JSON and Markdown, of limited length', async () => {
    const json = JSON.parse((await runMain(['diff', '--json', '--sort', 'dso', at('old.data'), at('new.data')])).stdout.toString());
    expect(json).toMatchObject({ base: 'old.data', new: 'new.data', events: [{ ratio: 0.5, rows: [{ dso: 'app', change: 0 }], omittedRows: 0 }] });
    const { stdout } = await runMain(['diff', '--markdown', '--unknown', 'address', '--limit', '1', at('old.data'), at('new.data')]);
    expect(stdout.toString()).toMatch(/\n\| ---: .*\n\| .*\n\n1 more\n$/);
  });

  test('reads one of the two from standard input, and may compare a recording with itself', async () => {
    const { status, stdout } = await runMain(['diff', at('old.data'), '-'], { stdin: encodePipe(eventRecording(['cycles:u'], [0x40_0010n], '/new/app')) });
    expect([status, stdout.toString().includes('# NEW standard input: 1 sample')]).toEqual([0, true]);
    expect((await runMain(['diff', at('old.data'), at('old.data')])).status).toBe(0);
  });

  test('applies filters to both', async () => {
    const { status, stderr } = await runMain(['diff', '--event', 'page-faults', at('old.data'), at('new.data')]);
    expect([status, stderr]).toEqual([1, expect.stringContaining('new.data: none of the samples in the recording (1) passes the filters')]);
  });

  test.each([
    [[], 2, 'perfconv diff compares two recordings, but none is given: perfconv diff BASE NEW'],
    [['old.data'], 2, 'but only one is given'],
    [['old.data', 'new.data', 'other.data'], 2, 'but 3 are given'],
    [['-', '-'], 2, 'standard input can be read only once'],
    [['--json', '--markdown', 'old.data', 'new.data'], 2, '--json cannot be combined with --markdown'],
    [['--sort', 'pid', 'old.data', 'new.data'], 2, '--sort pid: unknown value; expected one of function, dso, comm'],
    [['new.data', 'other.data'], 1, 'the recordings have no event in common: BASE has cycles:u; NEW has instructions'],
    [['broken.data', 'new.data'], 1, 'broken.data: '],
    [['old.data', 'missing.data'], 1, 'missing.data: no such file or directory'],
  ])('refuses %j', async (args, status, message) => {
    const result = await runMain(['diff', ...args.map((word) => (word.endsWith('.data') ? at(word) : word))]);
    expect(result).toMatchObject({ status, stderr: expect.stringContaining(message) });
    expect(result.stdout.toString()).toBe('');
    const errors = result.stderr
      .trimEnd()
      .split('\n')
      .filter((line) => !line.includes(': warning: '));
    expect(errors).toHaveLength(1);
  });
});
