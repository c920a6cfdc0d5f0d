import { describe, expect, it, vi } from 'vitest';
import { webAssemblyRefusal } from '../../../src/base/bytes/web-assembly-refusal.ts';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import { instantiate } from '../../../src/dwarf/wasm/instantiate.ts';
import type { WasmExports } from '../../../src/dwarf/wasm/module.ts';

type Instantiate = typeof import('../../../src/dwarf/wasm/instantiate.ts');

/** More memory than there can be. */
const TOO_MUCH = 2_500_000_000;
const none = (): number => -1;
const IMPORTS = { addressOf: none, damaged: none, formSize: none, rowOf: none };

describe('memory of WebAssembly', () => {
  const places: Record<string, (exports: WasmExports, size: number) => number> = {
    'the bytes of an abbreviation table': (exports, size) => exports.placeTableBytes(size),
    'a line table': (exports, size) => exports.placeLines(size),
    'a unit': (exports, size) => exports.placeUnit(size),
    'an abbreviation table': (exports, size) => exports.placeTable(size),
    'wanted addresses': (exports, size) => exports.placeWanted(size),
    'a window': (exports, size) => exports.placeWindow(1, size),
  };

  it.each(Object.keys(places))('for %s is refused if it is too much, and later requests still work', (name) => {
    const exports = instantiate(IMPORTS);
    for (let times = 0; times < 2; times++) {
      expect(() => places[name](exports, TOO_MUCH)).toThrow(PerfconvError);
      expect(places[name](exports, 100)).toBeGreaterThan(0);
    }
    // Three windows of a megabyte, a table of a quarter of one.
    expect(exports.memory.buffer.byteLength).toBeLessThan(3.5 * 2 ** 20);
  });

  it('is reused by each unit: what the one before allocated is dropped', () => {
    const exports = instantiate(IMPORTS);
    let size = 0;
    for (let unit = 0; unit < 50; unit++) {
      const lines = exports.placeLines(100_000);
      exports.beginLineProgram(0, 0, 10, 0, 1, 1, 1, false, true);
      exports.runLineProgram();
      const bytes = exports.placeUnit(1_000_000);
      const wanted = exports.placeWanted(10_000);
      expect([lines + 100_000 <= bytes, bytes + 1_000_000 <= wanted]).toEqual([true, true]);
      if (unit === 0) size = exports.memory.buffer.byteLength;
    }
    expect(exports.memory.buffer.byteLength).toBe(size);
  });

  it('keeps the abbreviation table and the rows while units are scanned, and drops the rows for a table that needs their place', () => {
    const exports = instantiate(IMPORTS);
    const table = exports.placeTable(1000);
    const lines = exports.placeLines(100);
    exports.beginLineProgram(0, 0, 10, 0, 1, 1, 1, false, true);
    expect(exports.runLineProgram()).toBe(0);
    const capacity = exports.tableCapacity.value;
    expect(exports.placeUnit(100)).toBeGreaterThan(exports.lineAddresses.value);
    expect(exports.placeTable(capacity)).toBe(table);
    expect(exports.placeUnit(100)).toBeGreaterThan(exports.lineAddresses.value);
    expect(exports.placeTable(capacity + 1)).toBe(table);
    expect(exports.tableCapacity.value).toBeGreaterThan(capacity);
    expect(exports.placeLines(100)).toBeGreaterThan(lines);
  });

  it('is asked for only once if there is none, since an engine collects all garbage before it refuses', async () => {
    vi.resetModules();
    const fresh: Instantiate = await import('../../../src/dwarf/wasm/instantiate.ts');
    let asked = 0;
    const Instance = class {
      constructor() {
        asked++;
        throw new RangeError('could not allocate memory');
      }
    };
    vi.stubGlobal('WebAssembly', { Module: class {}, Instance });
    try {
      for (let times = 0; times < 3; times++) expect(() => fresh.instantiate(IMPORTS)).toThrow(/not enough memory for WebAssembly.*could not allocate memory/);
      expect(asked).toBe(1);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it('is refused with a reason if the engine has no WebAssembly or a page forbids it, and that is known beforehand', async () => {
    expect(webAssemblyRefusal()).toBeUndefined();
    const Module = class {
      constructor() {
        throw new Error('Wasm code generation disallowed by embedder');
      }
    };
    for (const [stub, why] of [
      [undefined, /WebAssembly|undefined/],
      [{ Module }, /disallowed by embedder/],
    ] as const) {
      vi.resetModules();
      const fresh: Instantiate = await import('../../../src/dwarf/wasm/instantiate.ts');
      vi.stubGlobal('WebAssembly', stub);
      try {
        expect(webAssemblyRefusal()).toMatch(why);
        expect(() => fresh.instantiate(IMPORTS)).toThrow(/^no WebAssembly, which is needed to read debug information: /);
      } finally {
        vi.unstubAllGlobals();
      }
    }
  });
});
