import { OptionalWasm } from '../../base/bytes/web-assembly.ts';
import { CODE, type WasmExports } from './module.ts';

const instances = new OptionalWasm<WasmExports>(CODE);

/**
 * A new instance of the module, with memory of its own; undefined if there can be none.
 * @param namesSizeBytes size of the names that are to be put into it
 * @param loadCount how many segments are to be put into it
 */
export function instantiate(namesSizeBytes: number, loadCount: number): WasmExports | undefined {
  return instances.instantiate((wasm) => wasm.initialize(namesSizeBytes, loadCount));
}
