/** Reads the fields of an entry one after the other. A field that is not there is read as 0 and noted in {@link failed}. */

const MAX_LEB_SIZE_BYTES = 10;

export let at: usize = 0;
export let end: usize = 0;
export let failed: bool = false;

/** Moves to a place; nothing from `newEnd` on is read. */
export function move(place: usize, newEnd: usize): void {
  at = place;
  end = newEnd;
  failed = place > newEnd;
}

export function fail(): void {
  failed = true;
}

export function skip(sizeBytes: u64): void {
  if (failed || sizeBytes > end - at) failed = true;
  else at += <usize>sizeBytes;
}

/** Moves past a field of that many bytes. @returns where it begins; 0 if it is not there */
function take(sizeBytes: usize): usize {
  const place = at;
  if (failed || sizeBytes > end - place) {
    failed = true;
    return 0;
  }
  at = place + sizeBytes;
  return place;
}

export function u8At(): u32 {
  const place = take(1);
  return place === 0 ? 0 : load<u8>(place);
}

export function u16At(): u32 {
  const place = take(2);
  return place === 0 ? 0 : load<u16>(place);
}

export function u32At(): u32 {
  const place = take(4);
  return place === 0 ? 0 : load<u32>(place);
}

/** An unsigned LEB128 number. One of more than 63 bits fails. */
export function uleb(): i64 {
  let value: i64 = 0;
  for (let i = 0; i < MAX_LEB_SIZE_BYTES - 1; i++) {
    const byte = u8At();
    value |= (<i64>(byte & 0x7f)) << (7 * i);
    if (byte < 0x80) return value;
  }
  failed = true;
  return 0;
}

/** A signed LEB128 number. One of more than 63 bits fails. */
export function sleb(): i64 {
  let value: i64 = 0;
  for (let i = 0; i < MAX_LEB_SIZE_BYTES - 1; i++) {
    const byte = u8At();
    value |= (<i64>(byte & 0x7f)) << (7 * i);
    if (byte >= 0x80) continue;
    const bits = 7 * (i + 1);
    return (byte & 0x40) !== 0 ? value | (-1 << bits) : value;
  }
  failed = true;
  return 0;
}
