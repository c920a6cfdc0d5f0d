import { describe, expect, test } from 'vitest';
import { Findings } from '../../src/library/findings.ts';

const codesOf = (findings: Findings): [string, unknown][] => findings.list().map(({ code, count }) => [code, count]);

describe('findings of several readings', () => {
  test('list each kind once, as found by the reading with the highest count', async () => {
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

  test('include those of a running reading, but ignore what is added after its end', async () => {
    const findings = new Findings();
    const running = findings.begin();
    running.add('first', 'info', 'first');
    expect(codesOf(findings)).toEqual([['first', 1]]);
    findings.end(running);
    running.add('first', 'info', 'first');
    running.add('after', 'info', 'after');
    expect(codesOf(findings)).toEqual([['first', 1]]);
  });

  test('include those of a reading that failed', async () => {
    const findings = new Findings();
    const reading = findings.during(async (diagnostics) => {
      diagnostics.add('damaged', 'loss', 'damaged');
      throw new Error('failed');
    });
    await expect(reading).rejects.toThrow('failed');
    expect(codesOf(findings)).toEqual([['damaged', 1]]);
  });

  test('are passed on to the parent, and to combined ones', async () => {
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
