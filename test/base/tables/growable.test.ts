import { expect, it } from 'vitest';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import { allocated, grown } from '../../../src/base/tables/growable.ts';

it('columns at least double when they grow, and keep their content', () => {
  const column = Int32Array.of(1, 2, 3);
  expect([...grown(column, 4)]).toEqual([1, 2, 3, 0, 0, 0]);
  expect(grown(column, 3)).toBe(column);
});

it('a column that does not fit in memory is a PerfconvError', () => {
  expect(() => allocated(Float64Array, 2 ** 50)).toThrow(PerfconvError);
  expect(() => grown(new Float64Array(1), 2 ** 50)).toThrow('there is not enough memory for 9007199254740992 bytes');
});
