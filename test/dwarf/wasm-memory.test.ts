import { describe, expect, it, vi } from 'vitest';
import { PerfconvError } from '../../src/base/errors.ts';
import { CODE as ABBREVIATIONS } from '../../src/dwarf/wasm/abbreviation-table-code.ts';
import { webAssemblyRefusal } from '../../src/dwarf/wasm/availability.ts';
import { CODE as SCAN } from '../../src/dwarf/wasm/function-scan-code.ts';
import { instantiate, type WasmMemory } from '../../src/dwarf/wasm/instantiate.ts';
import { CODE as LINES } from '../../src/dwarf/wasm/line-program-code.ts';

interface Exports {
  readonly memory: WasmMemory;
  readonly reserve: (sizeBytes: number) => number;
  readonly reserveUnit: (sizeBytes: number) => number;
  readonly reserveTable: (sizeBytes: number) => number;
  readonly reserveWanted: (count: number) => number;
  readonly reserveWindow: (window: number, sizeBytes: number) => number;
}

/** More than there can be. */
const TOO_MUCH = 2_500_000_000;

describe('memory of WebAssembly', () => {
  const rooms: Record<string, [code: string, reserve: (exports: Exports, size: number) => number]> = {
    'an abbreviation table': [ABBREVIATIONS, (exports, size) => exports.reserve(size)],
    'a line table': [LINES, (exports, size) => exports.reserve(size)],
    'a unit': [SCAN, (exports, size) => exports.reserveUnit(size)],
    'a parsed table': [SCAN, (exports, size) => exports.reserveTable(size)],
    'wanted addresses': [SCAN, (exports, size) => exports.reserveWanted(size)],
    'a window': [SCAN, (exports, size) => exports.reserveWindow(1, size)],
  };

  it.each(Object.keys(rooms))('for %s is there, or an error is, and what is asked for next does not lie over other things', (name) => {
    const [code, reserve] = rooms[name];
    const none = (): number => -1;
    const exports = instantiate<Exports>(code, { addressOf: none, damaged: none, formSize: none, rowOf: none });
    for (let times = 0; times < 2; times++) {
      expect(() => reserve(exports, TOO_MUCH)).toThrow(PerfconvError);
      expect(reserve(exports, 100)).toBeGreaterThan(0);
    }
    const pages = exports.memory.buffer.byteLength / 0x1_0000;
    expect(pages).toBeLessThan(4);
  });

  it('is asked for once where there is no room for it: an engine collects all garbage before it says no', async () => {
    vi.resetModules();
    const fresh: { instantiate: typeof instantiate } = await import('../../src/dwarf/wasm/instantiate.ts');
    let asked = 0;
    const Instance = class {
      constructor() {
        asked++;
        throw new RangeError('could not allocate memory');
      }
    };
    vi.stubGlobal('WebAssembly', { Module: class {}, Instance });
    try {
      for (const code of [LINES, SCAN, SCAN]) expect(() => fresh.instantiate(code, {})).toThrow(/no room for WebAssembly.*could not allocate memory/);
      expect(asked).toBe(1);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it('is not there where the engine has no WebAssembly, or a page forbids it: that is a PerfconvError, and is known beforehand', () => {
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
      vi.stubGlobal('WebAssembly', stub);
      try {
        expect(webAssemblyRefusal()).toMatch(why);
        // Code that was not compiled before.
        expect(() => instantiate('AGFzbQEAAAA', {})).toThrow(PerfconvError);
      } finally {
        vi.unstubAllGlobals();
      }
    }
  });
});
