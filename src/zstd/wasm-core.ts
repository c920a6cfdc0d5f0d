import type { BlockCore } from './block-core.ts';
import { LITERALS_LENGTH_ENTRIES, MATCH_LENGTH_ENTRIES } from './length-codes.ts';
import { BLOCK_AREA_BYTES, LITERALS_LENGTH_CODES, MATCH_LENGTH_CODES, MAX_ACCURACY_LOG, MAX_SYMBOLS, TABLE_COUNT } from './wasm/contract.ts';
import { instantiate } from './wasm/instantiate.ts';
import type { WasmExports } from './wasm/module.ts';

/** The areas of an instance's memory: new ones when it has grown. */
type Areas = Pick<BlockCore, 'block' | 'blockView' | 'shares' | 'weights' | 'fseEntries' | 'window'>;

/** The core in WebAssembly, which is two to three times as fast, from the first block on. */
export class WasmCore implements BlockCore {
  readonly #wasm: WasmExports;
  #areas: Areas;

  /** Undefined where the engine runs no WebAssembly, or has no memory for it. */
  static create(): WasmCore | undefined {
    const wasm = instantiate();
    return wasm && new WasmCore(wasm);
  }

  private constructor(wasm: WasmExports) {
    this.#wasm = wasm;
    this.#areas = areasOf(wasm, 0);
    const codes = new Int32Array(wasm.memory.buffer, wasm.lengthCodes.value, LITERALS_LENGTH_CODES + MATCH_LENGTH_CODES);
    codes.set(LITERALS_LENGTH_ENTRIES);
    codes.set(MATCH_LENGTH_ENTRIES, LITERALS_LENGTH_CODES);
  }

  get block(): Uint8Array {
    return this.#areas.block;
  }

  get blockView(): DataView {
    return this.#areas.blockView;
  }

  get shares(): Int16Array {
    return this.#areas.shares;
  }

  get weights(): Uint8Array {
    return this.#areas.weights;
  }

  get fseEntries(): Uint32Array {
    return this.#areas.fseEntries;
  }

  get window(): Uint8Array {
    return this.#areas.window;
  }

  growWindow(sizeBytes: number): void {
    if (this.#wasm.growWindow(sizeBytes) === 0) throw new RangeError(`no memory for a window of ${sizeBytes} bytes`);
    this.#areas = areasOf(this.#wasm, sizeBytes);
  }

  startFrame(): void {
    this.#wasm.startFrame();
  }

  buildFseTable(table: number, symbolCount: number, accuracyLog: number): void {
    this.#wasm.buildFseTable(table, symbolCount, accuracyLog);
  }

  useTable(kind: number, table: number, accuracyLog: number): void {
    this.#wasm.useTable(kind, table, accuracyLog);
  }

  buildHuffmanTable(count: number): number {
    return this.#wasm.buildHuffmanTable(count);
  }

  decodeHuffman(firstBit: number, endBit: number, from: number, to: number): number {
    return this.#wasm.decodeHuffman(firstBit, endBit, from, to);
  }

  executeSequences(
    count: number,
    firstBit: number,
    endBit: number,
    literals: number,
    literalsEnd: number,
    to: number,
    reach: number,
    maxBlockBytes: number,
  ): number {
    return this.#wasm.executeSequences(count, firstBit, endBit, literals, literalsEnd, to, reach, maxBlockBytes);
  }
}

function areasOf(wasm: WasmExports, windowBytes: number): Areas {
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
