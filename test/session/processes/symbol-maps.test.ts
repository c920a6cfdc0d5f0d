import { expect, test } from 'vitest';
import { DsoTable } from '../../../src/session/processes/dsos.ts';
import { SymbolMaps } from '../../../src/session/processes/symbol-maps.ts';
import { TaskTable } from '../../../src/session/processes/tasks.ts';
import { DSO_SYMBOL_MAP_FILE } from '../../../src/simpleperf/constants.ts';
import type { SimpleperfFile } from '../../../src/simpleperf/files.ts';

const SYMBOLS = 10_000;

function heapBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test("the maps of a process's symbols take memory once, however often the process starts anew", () => {
  const all = (value: number) => new Array<number>(SYMBOLS).fill(value);
  const file: SimpleperfFile = {
    path: 'perf-100.map',
    type: DSO_SYMBOL_MAP_FILE,
    minVaddr: 0,
    offsetOfMinVaddr: 0,
    symbols: {
      starts: Array.from({ length: SYMBOLS }, (_, i) => 0x5000_0000 + i * 0x2000),
      sizes: all(16),
      nameOffsets: all(0),
      nameLengths: all(1),
      names: new TextEncoder().encode('f'),
    },
    dexFileOffsets: [],
  };
  const tasks = new TaskTable(false);
  const maps = new SymbolMaps([file], tasks, new DsoTable());
  const before = heapBytes();
  for (let i = 0; i < 1000; i++) {
    tasks.fork({ pid: 100, tid: 100, ppid: 7, ptid: 7, isSynthesized: false, timeLo: 0, timeHi: 0 }, 0);
    maps.apply(100);
    tasks.rename({ pid: 100, tid: 100, comm: `${i}`, isExec: false });
  }
  // With maps for each start, this would be 300 MB.
  expect(heapBytes() - before).toBeLessThan(50e6);
  const { space } = tasks.processes[tasks.process(100)];
  expect([0x5000_0000, 0x5000_1000, 0x5000_0000 + (SYMBOLS - 1) * 0x2000].map((address) => space.find(address) >= 0)).toEqual([true, false, true]);
});
