/** Whether this machine keeps the lowest byte of a number first, as nearly all do. s390x does not. */
export const IS_LITTLE_ENDIAN_MACHINE: boolean = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

type Numbers = Uint16Array | Int32Array | Uint32Array | Float64Array;

interface NumbersType<N extends Numbers> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): N;
}

/**
 * Numbers in WebAssembly's memory, which is little-endian on every machine. They are a view of that memory where the machine is little-endian, too, and a copy
 * elsewhere: to change them, use {@link putNumbers}.
 * @param length how many there are
 */
export function numbersIn<N extends Numbers>(type: NumbersType<N>, buffer: ArrayBufferLike, byteOffset: number, length: number): N {
  if (IS_LITTLE_ENDIAN_MACHINE) return new type(buffer, byteOffset, length);
  const bytes = new Uint8Array(buffer, byteOffset, length * type.BYTES_PER_ELEMENT).slice();
  swapBytes(bytes, type.BYTES_PER_ELEMENT);
  return new type(bytes.buffer, 0, length);
}

/** Copies numbers to a place in WebAssembly's memory. */
export function putNumbers(buffer: ArrayBufferLike, byteOffset: number, numbers: Numbers): void {
  const bytes = new Uint8Array(buffer, byteOffset, numbers.byteLength);
  bytes.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
  if (!IS_LITTLE_ENDIAN_MACHINE) swapBytes(bytes, numbers.BYTES_PER_ELEMENT);
}

/** Reverses the bytes of each number. */
export function swapBytes(bytes: Uint8Array, bytesPerNumber: number): void {
  for (let at = 0; at < bytes.length; at += bytesPerNumber) bytes.subarray(at, at + bytesPerNumber).reverse();
}
