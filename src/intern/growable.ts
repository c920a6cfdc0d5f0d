type Column = Float64Array | Uint32Array | Int32Array | Uint16Array | Int16Array | Uint8Array;

/**
 * A copy of `column` with room for at least `length` elements, at least doubled; or `column` itself when it has the room.
 * The one way in which columns of tables grow.
 */
export function grown<C extends Column>(column: C, length: number): C {
  if (length <= column.length) return column;
  const larger = new (column.constructor as new (length: number) => C)(Math.max(length, column.length * 2));
  larger.set(column);
  return larger;
}
