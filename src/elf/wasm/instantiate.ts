import { compileWasm, instantiateWasm, type WasmModule } from '../../base/web-assembly.ts';
import { CODE, type WasmExports } from './module.ts';

/** Compiled once, for any number of instances. */
let compiled: WasmModule | undefined;

/**
 * A new instance of the module, with memory of its own; undefined where there can be none.
 * @param namesSizeBytes of the names that are to be put into it
 * @param loadCount how many segments are
 */
export function instantiate(namesSizeBytes: number, loadCount: number): WasmExports | undefined {
  try {
    compiled ??= compileWasm(CODE);
    const wasm = instantiateWasm(compiled, {}) as WasmExports;
    return wasm.initialize(namesSizeBytes, loadCount) === 0 ? undefined : wasm;
  } catch {
    // Nothing depends on it but time.
    return undefined;
  }
}
