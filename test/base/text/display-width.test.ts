import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutMiddle, displayWidth, padDisplay } from '../../../src/base/text/display-width.ts';

describe('the width of a text on a terminal', () => {
  test.each([
    ['', 0],
    ['main', 4],
    ['naïve', 5],
    ['nai\u0308ve', 5],
    ['函数', 4],
    ['ｆ한か', 6],
    ['🔥 hot', 6],
    ['├ main', 6],
  ])('%s takes %i columns', (text, width) => expect(displayWidth(text)).toBe(width));

  test('is what padding counts', () => {
    expect(padDisplay('函数', 6)).toBe('函数  ');
    expect(padDisplay('main', 2)).toBe('main');
  });
});

describe('a text that is too wide', () => {
  test.each([
    ['std::vector<int>::push_back', 15, 'std::ve…sh_back'],
    ['main', 4, 'main'],
    ['naïve_函数_name', 9, 'naïv…name'],
    ['函数函数函数', 6, '函…数'],
    ['ab', 1, '…'],
  ])('%s in %i columns is %s', (text, width, cut) => expect(cutMiddle(text, width)).toBe(cut));

  test('keeps more of its end if asked to', () => expect(cutMiddle('/usr/lib/x86_64-linux-gnu/libc.so.6', 16, 0.25)).toBe('/us…nu/libc.so.6'));

  test('never takes more columns than there are', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', ':', 'ï', '函', '🔥', '\u0308') });
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 30 }), (text, width) => {
        expect(displayWidth(cutMiddle(text, width))).toBeLessThanOrEqual(width);
      }),
    );
  });
});
