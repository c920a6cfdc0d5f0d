import { describe, expect, test } from 'vitest';
import { OptionalWasm } from '../../../src/base/bytes/web-assembly.ts';
import { CODE, type WasmExports } from '../../../src/symbolizer/kernel/wasm/module.ts';

describe('an optional module of WebAssembly', () => {
  test('gives instances with memory of their own', () => {
    const instances = new OptionalWasm<WasmExports>(CODE);
    const [first, second] = [1, 2].map(() => instances.instantiate((wasm) => wasm.initialize()));
    expect(first?.memory).toBeDefined();
    expect(first?.memory).not.toBe(second?.memory);
  });

  test.each([
    ['cannot be compiled', 'AAAA', 1],
    ['has no memory', CODE, 0],
  ])('is not tried again if it %s', (_, code, initialized) => {
    const instances = new OptionalWasm<WasmExports>(code);
    expect(instances.instantiate(() => initialized)).toBeUndefined();
    let calls = 0;
    expect(instances.instantiate(() => ++calls)).toBeUndefined();
    expect(calls).toBe(0);
  });
});
