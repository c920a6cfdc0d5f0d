import type { BlockCore } from './block-core.ts';
import { PlainCore } from './plain-core.ts';
import { WasmCore } from './wasm-core.ts';

/** A core for one stream: both kinds produce the same bytes, and refuse the same damage. */
export function openCore(): BlockCore {
  return WasmCore.create() ?? new PlainCore();
}
