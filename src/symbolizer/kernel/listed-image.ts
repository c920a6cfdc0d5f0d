import { NameBytes } from '../../symbol-table/name-bytes.ts';
import { lastSymbolSize } from '../../symbol-table/symbol-placement.ts';
import type { SymbolColumns } from '../../symbol-table/symbol-table.ts';
import type { KallsymsLines } from './kallsyms-lines.ts';

/**
 * The symbols of the kernel image, if they are listed as kernels list them: before all others, in the order of their addresses, with no others between these.
 * Each ends where the next one begins, so that the columns of the list can be used as a table as they are: there are many symbols, and few are looked up.
 *
 * The list is in the order of unsigned addresses: those of the lower half, where the addresses of per-CPU variables start at 0, come first in the list, but
 * last in a table.
 */
export class ListedImage {
  readonly #lines: KallsymsLines;
  readonly #names: Uint8Array;
  /** The first row of the upper half; 0 if all are in one half. */
  readonly #upper: number;

  /** Undefined if they are listed in another way. @param names the list's bytes */
  static of(lines: KallsymsLines, names: Uint8Array): ListedImage | undefined {
    const { count, firstOther, imageEnd, descents, starts } = lines;
    if (imageEnd === 0 || (firstOther >= 0 && firstOther < imageEnd) || descents.length > 1) return undefined;
    const [upper = 0] = descents;
    const last = imageEnd - 1;
    if (upper === 0 && starts[0] < 0 !== starts[last] < 0) return undefined;
    // The last symbol of the upper half must not reach into the lower half.
    if (upper > 0 && (starts[0] < 0 || starts[last] >= 0 || endOfLast(starts[last]) > starts[0])) return undefined;
    for (let row = imageEnd; row < count; row++) {
      const start = starts[row];
      if ((start >= starts[upper] && start <= starts[last]) || (upper > 0 && start >= starts[0] && start <= starts[upper - 1])) return undefined;
    }
    return new ListedImage(lines, names, upper);
  }

  private constructor(lines: KallsymsLines, names: Uint8Array, upper: number) {
    this.#lines = lines;
    this.#names = names;
    this.#upper = upper;
  }

  /** The rows at which its ranges of addresses begin, ascending: all that the sizes of other symbols depend on. */
  get firstRows(): number[] {
    return this.#upper > 0 ? [0, this.#upper] : [0];
  }

  /** The columns of a table, each address moved by `shift`. */
  columns(shift: number): SymbolColumns {
    const { starts, nameOffsets, nameLengths } = this.#lines;
    const listed = this.#inOrder(starts);
    const ends = new Float64Array(listed.length);
    ends.set(listed.subarray(1));
    for (const end of [listed.length - this.#upper, listed.length]) ends[end - 1] = endOfLast(listed[end - 1]);
    return {
      starts: moved(listed, shift),
      ends: moved(ends, shift),
      nameOffsets: this.#inOrder(nameOffsets),
      nameLengths: this.#inOrder(nameLengths),
      names: new NameBytes(this.#names),
    };
  }

  /** The image's part of a column: the upper half, then the lower one. */
  #inOrder<Column extends Float64Array | Uint32Array>(column: Column): Column {
    const { imageEnd } = this.#lines;
    const listed = column.subarray(0, imageEnd) as Column;
    if (this.#upper === 0) return listed;
    const ordered = listed.slice() as Column;
    ordered.set(listed.subarray(this.#upper));
    ordered.set(listed.subarray(0, this.#upper), imageEnd - this.#upper);
    return ordered;
  }
}

function moved(addresses: Float64Array, shift: number): Float64Array {
  return shift === 0 ? addresses : addresses.map((address) => address + shift);
}

function endOfLast(start: number): number {
  return start + lastSymbolSize(start);
}
