import { OptionalWasm } from '../../base/bytes/web-assembly.ts';
import { CODE, type WasmExports } from './module.ts';

const instances = new OptionalWasm<WasmExports>(CODE);

/** A new instance of the module, with memory of its own; undefined if there cannot be one. @param followsLibunwind as the unwinder's option */
export function instantiate(followsLibunwind: boolean): WasmExports | undefined {
  return instances.instantiate((wasm) => wasm.initialize(followsLibunwind));
}
