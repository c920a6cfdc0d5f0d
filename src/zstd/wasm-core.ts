import type { BlockAreas, BlockCore } from './block-core.ts';
import { LITERALS_LENGTH_ENTRIES, MATCH_LENGTH_ENTRIES } from './length-codes.ts';
import { BLOCK_AREA_BYTES, LITERALS_LENGTH_CODES, MATCH_LENGTH_CODES, MAX_ACCURACY_LOG, MAX_SYMBOLS, TABLE_COUNT } from './wasm/contract.ts';
import { instantiate } from './wasm/instantiate.ts';
import type { WasmExports } from './wasm/module.ts';

/** The core in WebAssembly, which is two to three times as fast, from the first block on. */
export class WasmCore implements BlockCore {
  areas: BlockAreas;
  readonly loops: WasmExports;

  /** Undefined if the engine runs no WebAssembly, or has no memory for it. */
  static create(): WasmCore | undefined {
    const wasm = instantiate();
    return wasm && new WasmCore(wasm);
  }

  private constructor(wasm: WasmExports) {
    this.loops = wasm;
    this.areas = areasOf(wasm, 0);
    const codes = new Int32Array(wasm.memory.buffer, wasm.lengthCodes.value, LITERALS_LENGTH_CODES + MATCH_LENGTH_CODES);
    codes.set(LITERALS_LENGTH_ENTRIES);
    codes.set(MATCH_LENGTH_ENTRIES, LITERALS_LENGTH_CODES);
  }

  growWindow(sizeBytes: number): void {
    if (this.loops.growWindow(sizeBytes) === 0) throw new RangeError(`not enough memory for a window of ${sizeBytes} bytes`);
    this.areas = areasOf(this.loops, sizeBytes);
  }
}

/** Views of an instance's memory. They become empty when it grows. */
function areasOf(wasm: WasmExports, windowBytes: number): BlockAreas {
  const { buffer } = wasm.memory;
  return {
    block: new Uint8Array(buffer, wasm.block.value, BLOCK_AREA_BYTES),
    blockView: new DataView(buffer, wasm.block.value, BLOCK_AREA_BYTES),
    shares: new Int16Array(buffer, wasm.shares.value, MAX_SYMBOLS),
    weights: new Uint8Array(buffer, wasm.weights.value, MAX_SYMBOLS),
    fseEntries: new Uint32Array(buffer, wasm.fseEntries.value, TABLE_COUNT << MAX_ACCURACY_LOG),
    window: new Uint8Array(buffer, wasm.window.value, windowBytes),
  };
}
