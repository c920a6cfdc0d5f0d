import { describe, expect, test } from 'vitest';
import { closed, isRightToLeft } from '../../viewer/model/direction.ts';
import { Fitter } from '../../viewer/view/fit.ts';

const HEBREW = '\u05e4\u05d5\u05e0\u05e7\u05e6\u05d9\u05d4';
const ARABIC = '\u0645\u0643\u062a\u0628\u0629';
const ADLAM = '\ud83a\udd00\ud83a\udd01';

describe('names written from right to left', () => {
  test.each([
    [HEBREW, true],
    [`${ARABIC}_2`, true],
    [`${ADLAM} (1)`, true],
    [`${ARABIC}::push(int)`, false],
    ['main', false],
    ['関数', false],
    ['🚀', false],
    ['12', false],
    ['', false],
    // A label, whose number is at the right.
    [`${closed(ARABIC)} (1)`, false],
  ])('%j: %j', (name, expected) => expect(isRightToLeft(name)).toBe(expected));

  test('are closed before numbers, and no others', () => {
    expect([closed(HEBREW), closed(`f::${ADLAM}`), closed('main')]).toEqual([`${HEBREW}\u200e`, `f::${ADLAM}\u200e`, 'main']);
  });
});

describe('names cut to the width of a box', () => {
  const fit = (name: string, width: number): string => new Fitter().fit(name, width, (text) => text.length);

  test.each([
    ['main', 4, 'main'],
    ['main', 3, 'ma…'],
    ['main', 2, ''],
    ['ab🚀cd', 4, 'ab…'],
    ['x'.repeat(500), 1000, `${'x'.repeat(400)}…`],
  ])('%j at %i: %j', (name, width, expected) => expect(fit(name, width)).toBe(expected));

  test('have the ellipsis where their end would be', () => {
    // All of the line runs from right to left.
    expect(fit(HEBREW, 4)).toBe(`${HEBREW.slice(0, 3)}…`);
    // Only its last letters do.
    expect(fit(`f::${HEBREW}`, 7)).toBe(`f::${HEBREW.slice(0, 3)}…\u200f`);
    expect(fit(`${HEBREW}::function`, 13)).toBe(`${HEBREW}::fun…`);
  });
});
