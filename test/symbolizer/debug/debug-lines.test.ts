import { expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import type { SourceFrame } from '../../../src/symbol-table/code-symbols.ts';
import { DebugLines } from '../../../src/symbolizer/debug/debug-lines.ts';

/** Has a frame for each address except 300, with the address as line, and keeps what it is asked for. */
class AskedInfo {
  asked: number[] = [];
  readonly problems = [{ file: '/bin/a', offset: 16, what: 'a unit is damaged' }];

  async lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void> {
    this.asked.push(...addresses);
    addresses.forEach((line, index) => {
      if (line !== 300) visit(index, [{ function: undefined, file: '', line, column: 0 }]);
    });
  }
}

it('each svma is looked up once, in ascending order, for all addresses that are moved there', async () => {
  const svmaOf = new Map([
    [10, 500],
    [20, 100],
    [40, 300],
    [50, 500],
    [60, 200],
  ]);
  const info = new AskedInfo();
  const found: [number, number][] = [];
  const lines = new DebugLines(info, (address) => svmaOf.get(address) ?? Number.NaN, undefined, new Diagnostics());
  await lines.lookup(Float64Array.of(10, 20, 30, 40, 50, 60), (index, [{ line }]) => found.push([index, line]));
  expect(info.asked).toEqual([100, 200, 300, 500]);
  expect(found.sort(([a], [b]) => a - b)).toEqual([
    [0, 500],
    [1, 100],
    [4, 500],
    [5, 200],
  ]);
});

it('each problem is reported once, even after several look-ups', async () => {
  const diagnostics = new Diagnostics();
  const lines = new DebugLines(new AskedInfo(), (address) => address, undefined, diagnostics);
  for (let i = 0; i < 2; i++) await lines.lookup(Float64Array.of(10), () => {});
  expect(diagnostics.list()).toMatchObject([{ code: 'debug-info-damaged', count: 1, message: '/bin/a .debug_info at 0x10: a unit is damaged' }]);
});
