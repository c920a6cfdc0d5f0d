import { PerfconvError } from '../problems/errors.ts';

type Column = Float64Array | Uint32Array | Int32Array | Uint16Array | Int16Array | Uint8Array;

interface ColumnType<C extends Column> {
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): C;
}

/**
 * A column of zeros.
 * @throws PerfconvError `limit` if there is no memory for it
 */
export function allocated<C extends Column>(type: ColumnType<C>, length: number): C {
  try {
    return new type(length);
  } catch (cause) {
    throw new PerfconvError('limit', `there is not enough memory for ${length * type.BYTES_PER_ELEMENT} bytes`, {}, { cause });
  }
}

/**
 * A copy of `column` with room for at least `length` elements, at least doubled; or `column` itself if it has the room. All columns of tables grow in this way.
 * @throws PerfconvError `limit` if there is no memory for it
 */
export function grown<C extends Column>(column: C, length: number): C {
  if (length <= column.length) return column;
  const larger = allocated(column.constructor as unknown as ColumnType<C>, Math.max(length, column.length * 2));
  larger.set(column);
  return larger;
}
