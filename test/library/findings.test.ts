import { describe, expect, test } from 'vitest';
import { Findings } from '../../src/library/findings.ts';

const codesOf = (findings: Findings): [string, unknown][] => findings.list().map(({ code, count }) => [code, count]);

describe('findings of several readings', () => {
  test('list each kind once, as the reading that met most of it has it', async () => {
    const findings = new Findings();
    for (const count of [2, 5, 3]) {
      await findings.during(async (diagnostics) => {
        diagnostics.add('lost', 'loss', `${count} lost`, undefined, count);
        if (count === 3) diagnostics.add('late', 'info', 'late');
      });
    }
    expect(codesOf(findings)).toEqual([
      ['lost', 5],
      ['late', 1],
    ]);
    expect(findings.list()[0].message).toBe('5 lost');
  });

  test('list what a reading that is not over has found so far, and keep nothing of one that is', async () => {
    const findings = new Findings();
    const running = findings.begin();
    running.add('first', 'info', 'first');
    expect(codesOf(findings)).toEqual([['first', 1]]);
    findings.end(running);
    running.add('first', 'info', 'first');
    running.add('after', 'info', 'after');
    expect(codesOf(findings)).toEqual([['first', 1]]);
  });

  test('keep what a reading that failed had found', async () => {
    const findings = new Findings();
    const reading = findings.during(async (diagnostics) => {
      diagnostics.add('damaged', 'loss', 'damaged');
      throw new Error('failed');
    });
    await expect(reading).rejects.toThrow('failed');
    expect(codesOf(findings)).toEqual([['damaged', 1]]);
  });

  test('are also those of a parent, and of others', async () => {
    const parent = new Findings();
    const child = new Findings(parent);
    const all = new Findings(undefined, [child]);
    const running = child.begin();
    running.add('child', 'info', 'child');
    for (const end of [false, true]) {
      if (end) child.end(running);
      for (const findings of [parent, child, all]) expect(codesOf(findings)).toEqual([['child', 1]]);
    }
    await all.during(async (diagnostics) => diagnostics.add('own', 'info', 'own'));
    expect(codesOf(all)).toEqual([
      ['child', 1],
      ['own', 1],
    ]);
    expect(codesOf(child)).toEqual([['child', 1]]);
  });
});
