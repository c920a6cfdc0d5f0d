import { OptionalWasm } from '../../base/bytes/web-assembly.ts';
import { CODE, type WasmExports } from './module.ts';

const instances = new OptionalWasm<WasmExports>(CODE);

/** A new instance of the module, with memory of its own; undefined if there can be none. */
export function instantiate(): WasmExports | undefined {
  return instances.instantiate((wasm) => wasm.initialize());
}
