import { compileWasm, instantiateWasm, type WasmModule } from '../../base/web-assembly.ts';
import { CODE, type WasmExports } from './module.ts';

/** Compiled once, for any number of instances. */
let compiled: WasmModule | undefined;
/** Whether the engine runs no WebAssembly, or had no memory for it once: it is not asked again. */
let isRefused = false;

/** A new instance of the module, with memory of its own; undefined where there can be none. @param followsLibunwind as the unwinder's option */
export function instantiate(followsLibunwind: boolean): WasmExports | undefined {
  if (isRefused) return undefined;
  try {
    compiled ??= compileWasm(CODE);
    const wasm = instantiateWasm(compiled, {}) as WasmExports;
    if (wasm.initialize(followsLibunwind) !== 0) return wasm;
  } catch {
    // Nothing depends on it but time.
  }
  isRefused = true;
  return undefined;
}
