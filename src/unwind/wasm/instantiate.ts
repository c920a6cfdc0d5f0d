import { compileWasm, instantiateWasm, type WasmModule } from '../../base/web-assembly.ts';
import { CODE, type WasmExports } from './module.ts';

/** Compiled once, for any number of instances; undefined where the engine runs no WebAssembly, or had no memory for it once. */
let compiled: WasmModule | 'not yet' | undefined = 'not yet';

/** A new instance of the module, with memory of its own; undefined where there can be none. @param followsLibunwind as the unwinder's option */
export function instantiate(followsLibunwind: boolean): WasmExports | undefined {
  try {
    if (compiled === 'not yet') compiled = compileWasm(CODE);
    if (compiled === undefined) return undefined;
    const wasm = instantiateWasm(compiled, {}) as WasmExports;
    if (wasm.initialize(followsLibunwind) !== 0) return wasm;
  } catch {
    // Nothing depends on it but time.
  }
  compiled = undefined;
  return undefined;
}
