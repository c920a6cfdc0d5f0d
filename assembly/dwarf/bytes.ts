/** Reads numbers from memory, by absolute address. */

/** Whether the file's byte order is not WebAssembly's, which is little-endian. */
let isSwapped: bool = false;

export function setByteOrder(isLittleEndian: bool): void {
  isSwapped = !isLittleEndian;
}

export function readU8(at: usize): u32 {
  return load<u8>(at);
}

export function readU16(at: usize): u32 {
  const value = load<u16>(at);
  return isSwapped ? bswap<u16>(value) : value;
}

export function readU24(at: usize): u32 {
  return isSwapped ? ((<u32>load<u8>(at)) << 16) | readU16(at + 1) : readU16(at) | ((<u32>load<u8>(at + 2)) << 16);
}

export function readU32(at: usize): u32 {
  const value = load<u32>(at);
  return isSwapped ? bswap<u32>(value) : value;
}

export function readU64(at: usize): u64 {
  const value = load<u64>(at);
  return isSwapped ? bswap<u64>(value) : value;
}
