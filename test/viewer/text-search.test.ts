import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TextSearch } from '../../viewer/model/text-search.ts';

/** Texts of few letters, whose parts are often alike. */
const repetitive = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom('a', 'b'), { minLength, maxLength }).map((letters) => letters.join(''));

test('a text is found wherever it is, and only there', () => {
  fc.assert(
    fc.property(repetitive(1, 20), repetitive(0, 60), (wanted, text) => {
      expect(new TextSearch(wanted).isIn(text)).toBe(text.includes(wanted));
    }),
    { numRuns: 2000 },
  );
  fc.assert(
    fc.property(repetitive(0, 30), repetitive(1, 20), repetitive(0, 30), (before, wanted, after) => {
      expect(new TextSearch(wanted).isIn(before + wanted + after)).toBe(true);
    }),
  );
});

test('a long text in a long name takes steps proportional to their lengths', () => {
  let steps = 0;
  const counting = (text: string): string =>
    Object.assign(Object(text) as object, {
      charCodeAt: (at: number) => {
        steps++;
        return text.charCodeAt(at);
      },
    }) as unknown as string;
  const [length, half] = [60_000, 'a'.repeat(15_000)];
  expect(new TextSearch(`${half}b${half}`).isIn(counting('a'.repeat(length)))).toBe(false);
  expect(steps).toBeLessThan(5 * length);
});
