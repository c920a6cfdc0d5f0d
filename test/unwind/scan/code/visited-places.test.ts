import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VisitedPlaces } from '../../../../src/unwind/scan/code/visited-places.ts';

const CAPACITY = 16;

describe('visited places', () => {
  test('are those that were added since the last clear', () => {
    const svma = fc.oneof(
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 0, max: 40 }).map((i) => 2 ** 47 + CAPACITY * i),
      fc.constant(-1),
    );
    const rounds = fc.array(fc.array(svma, { maxLength: CAPACITY }), { maxLength: 8 });
    fc.assert(
      fc.property(rounds, fc.array(svma), (rounds, asked) => {
        const places = new VisitedPlaces(CAPACITY);
        for (const round of rounds) {
          const expected = new Set<number>();
          places.clear();
          for (const place of round) {
            places.add(place);
            expected.add(place);
          }
          for (const place of [...round, ...asked]) expect(places.has(place)).toBe(expected.has(place));
        }
      }),
    );
  });
});
