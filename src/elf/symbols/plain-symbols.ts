import type { CollectedSymbols } from '../../symbol-table/symbol-placement.ts';
import type { ElfSegment } from '../elf-file.ts';
import { ENTRY_SIZE_BYTES, LOAD_FIELDS, MAX_ENTRIES, MAX_LOADS } from '../wasm/contract.ts';
import { instantiate } from '../wasm/instantiate.ts';
import type { WasmExports } from '../wasm/module.ts';

/** More bytes of names than this are not copied. */
const MAX_NAMES_SIZE_BYTES = 64 << 20;

/**
 * Collects plain symbols, which nearly all are, in WebAssembly: tables have thousands, and all of them are read before V8 would have compiled a loop over them.
 */
export class PlainSymbols {
  /** How many bytes of names the last call of {@link read} collected. */
  nameBytes = 0;
  readonly #wasm: WasmExports;
  readonly #table: Uint8Array;
  readonly #entries: Uint8Array;
  readonly #columns: CollectedSymbols;
  /** Which entries of the table are in memory. */
  #windowStart = 0;
  #windowEnd = 0;

  /**
   * Undefined if the table cannot be read in this way.
   * @param table of a 64-bit little-endian file
   * @param loads the segments that turn addresses into file offsets
   */
  static over(table: Uint8Array, names: Uint8Array, loads: readonly ElfSegment[]): PlainSymbols | undefined {
    const wasm = names.length > MAX_NAMES_SIZE_BYTES || loads.length > MAX_LOADS ? undefined : instantiate(names.length, loads.length);
    return wasm && new PlainSymbols(wasm, table, names, loads);
  }

  private constructor(wasm: WasmExports, table: Uint8Array, names: Uint8Array, loads: readonly ElfSegment[]) {
    this.#wasm = wasm;
    this.#table = table;
    const { buffer } = wasm.memory;
    new Uint8Array(buffer, wasm.names.value).set(names);
    const segments = new Float64Array(buffer, wasm.loads.value, LOAD_FIELDS * loads.length);
    for (const [i, { vaddr, memsz, offset }] of loads.entries()) segments.set([vaddr, memsz, offset], LOAD_FIELDS * i);
    this.#entries = new Uint8Array(buffer, wasm.entries.value, MAX_ENTRIES * ENTRY_SIZE_BYTES);
    this.#columns = {
      starts: new Float64Array(buffer, wasm.starts.value, MAX_ENTRIES),
      sizes: new Float64Array(buffer, wasm.sizes.value, MAX_ENTRIES),
      nameOffsets: new Uint32Array(buffer, wasm.nameOffsets.value, MAX_ENTRIES),
      nameLengths: new Uint32Array(buffer, wasm.nameLengths.value, MAX_ENTRIES),
      ranks: new Uint8Array(buffer, wasm.ranks.value, MAX_ENTRIES),
    };
  }

  /** The symbols that the last call of {@link read} collected. */
  get collected(): CollectedSymbols {
    const count = this.#wasm.rowCount.value;
    const { starts, sizes, nameOffsets, nameLengths, ranks } = this.#columns;
    return {
      starts: starts.subarray(0, count),
      sizes: sizes.subarray(0, count),
      nameOffsets: nameOffsets.subarray(0, count),
      nameLengths: nameLengths.subarray(0, count),
      ranks: ranks.subarray(0, count),
    };
  }

  /**
   * Reads entries from `from` on, as far as they are in memory.
   * @param leavesDollars whether names that begin with a dollar sign are not plain
   * @param maxNameBytes how long all names together may be
   * @returns the first entry that is not plain, or not in memory
   */
  read(from: number, leavesDollars: boolean, maxNameBytes: number): number {
    if (from >= this.#windowEnd) this.#show(from);
    const next = this.#wasm.readSymbols(from - this.#windowStart, this.#windowEnd - this.#windowStart, leavesDollars, maxNameBytes);
    this.nameBytes = this.#wasm.nameBytes.value;
    return this.#windowStart + next;
  }

  #show(from: number): void {
    const part = this.#table.subarray(from * ENTRY_SIZE_BYTES, (from + MAX_ENTRIES) * ENTRY_SIZE_BYTES);
    this.#entries.set(part);
    this.#windowStart = from;
    this.#windowEnd = from + Math.floor(part.length / ENTRY_SIZE_BYTES);
  }
}
