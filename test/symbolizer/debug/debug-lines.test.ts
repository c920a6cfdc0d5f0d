import { expect, it } from 'vitest';
import type { SourceFrame, SourceLines } from '../../src/symbol-table/code-symbols.ts';
import { MovedLines } from '../../src/symbolizer/moved-lines.ts';

/** Tells of each address but 300 a frame with the address as its line, and keeps what it is asked. */
class AskedLines implements SourceLines {
  asked: number[] = [];

  async lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void> {
    this.asked.push(...addresses);
    addresses.forEach((line, index) => {
      if (line !== 300) visit(index, [{ function: undefined, file: '', line, column: 0 }]);
    });
  }
}

it('asks for each svma once, in ascending order, and tells all addresses that are moved there', async () => {
  const svmaOf = new Map([
    [10, 500],
    [20, 100],
    [40, 300],
    [50, 500],
    [60, 200],
  ]);
  const lines = new AskedLines();
  const found: [number, number][] = [];
  const moved = new MovedLines(lines, (address) => svmaOf.get(address) ?? Number.NaN);
  await moved.lookup(Float64Array.of(10, 20, 30, 40, 50, 60), (index, [{ line }]) => found.push([index, line]));
  expect(lines.asked).toEqual([100, 200, 300, 500]);
  expect(found.sort(([a], [b]) => a - b)).toEqual([
    [0, 500],
    [1, 100],
    [4, 500],
    [5, 200],
  ]);
});
