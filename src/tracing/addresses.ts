import type { ByteRange, TracePayload } from './payload.ts';

/**
 * How network addresses and unique ids are shown (`%p` with letters): which bytes a letter needs, and what it shows. Source: the kernel's documentation,
 * printk-formats.rst; what is shown for a field of another size: observed, perf 6.1.
 */
interface AddressStyle {
  readonly pattern: RegExp;
  /** Size of the field; 0 for any. */
  readonly size: number;
  readonly otherwise: string;
  readonly show: (bytes: Uint8Array, letters: string, littleEndian: boolean) => string;
}

const STYLES: readonly AddressStyle[] = [
  { pattern: /^[Ii]4[hnbl]?/, size: 4, otherwise: 'INVALIDIPv4', show: ipv4 },
  { pattern: /^(?:I6c?|i6)/, size: 16, otherwise: 'INVALIDIPv6', show: ipv6 },
  { pattern: /^[Ii]S[pfschnbl]*/, size: 0, otherwise: '', show: socketAddress },
  { pattern: /^(?:M[FR]?|m)/, size: 6, otherwise: 'INVALIDMAC', show: macAddress },
  { pattern: /^U[bBlL]?/, size: 16, otherwise: 'INVALIDUUID', show: uuid },
];

/** How many of the letters after `%p` belong to an address, and what shows it; undefined if they are not those of an address. */
export function addressStyleOf(letters: string): { readonly length: number; readonly show: (payload: TracePayload, range: ByteRange) => string } | undefined {
  for (const { pattern, size, otherwise, show } of STYLES) {
    const own = pattern.exec(letters)?.[0];
    if (own === undefined) continue;
    return {
      length: own.length,
      show: (payload, range) => (size > 0 && range.length !== size ? otherwise : show(payload.bytes(range), own, payload.littleEndian)),
    };
  }
  return undefined;
}

const hex2 = (byte: number): string => byte.toString(16).padStart(2, '0');

/** `I4` plain, `i4` with leading zeros; `h` in the machine's order, `l` in little endian. */
function ipv4(bytes: Uint8Array, letters: string, littleEndian: boolean): string {
  const order = letters[2];
  const isReversed = order === 'l' || (order === 'h' && littleEndian);
  const parts = Array.from(isReversed ? bytes.slice().reverse() : bytes, (byte) => String(byte).padStart(letters[0] === 'i' ? 3 : 1, '0'));
  return parts.join('.');
}

/** `I6` eight groups, `i6` without colons, `I6c` shortened. */
function ipv6(bytes: Uint8Array, letters: string): string {
  if (letters.endsWith('c')) return compressedIpv6(bytes);
  const groups = Array.from({ length: 8 }, (_, i) => hex2(bytes[2 * i]) + hex2(bytes[2 * i + 1]));
  return groups.join(letters[0] === 'i' ? '' : ':');
}

/** The longest run of two or more zero groups becomes `::`, the first one if there are several; mapped IPv4 and ISATAP addresses end like IPv4 addresses. */
function compressedIpv6(bytes: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, i) => (bytes[2 * i] << 8) | bytes[2 * i + 1]);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  const isIsatap = (groups[4] & ~0x0200) === 0 && groups[5] === 0x5efe;
  const count = isMapped || isIsatap ? 6 : 8;
  let bestStart = -1;
  let bestLength = 1;
  for (let i = 0; i < count; i++) {
    let length = 0;
    while (i + length < count && groups[i + length] === 0) length++;
    if (length > bestLength) [bestStart, bestLength] = [i, length];
  }
  let text = '';
  for (let i = 0; i < count; i++) {
    if (i === bestStart) {
      text += i === 0 ? '::' : ':';
      i += bestLength - 1;
    } else {
      text += groups[i].toString(16) + (i < 7 ? ':' : '');
    }
  }
  return count === 6 ? text + Array.from(bytes.subarray(12)).join('.') : text;
}

const AF_INET = 2;
const AF_INET6 = 10;

/** A struct sockaddr: family in the machine's byte order, port and address in network order. `p` shows the port, `c` shortens. */
function socketAddress(bytes: Uint8Array, letters: string, littleEndian: boolean): string {
  if (bytes.length < 8) return '';
  const family = littleEndian ? bytes[0] | (bytes[1] << 8) : (bytes[0] << 8) | bytes[1];
  const hasPort = letters.includes('p');
  const port = (bytes[2] << 8) | bytes[3];
  if (family === AF_INET) return ipv4(bytes.subarray(4, 8), letters[0] === 'i' ? 'i4' : 'I4', littleEndian) + (hasPort ? `:${port}` : '');
  if (family !== AF_INET6 || bytes.length < 24) return '';
  const address = ipv6(bytes.subarray(8, 24), `${letters[0]}6${letters.includes('c') ? 'c' : ''}`);
  return hasPort ? `[${address}]:${port}` : address;
}

/** `M` with colons, `MF` with dashes, `MR` reversed, `m` without separators. */
function macAddress(bytes: Uint8Array, letters: string): string {
  const parts = Array.from(letters === 'MR' ? bytes.slice().reverse() : bytes, hex2);
  return parts.join(letters === 'm' ? '' : letters === 'MF' ? '-' : ':');
}

/** `U` and `Ub` in byte order, `Ul` with the bytes of each of the first three groups reversed; `UB` and `UL` the same in upper case. */
function uuid(bytes: Uint8Array, letters: string): string {
  const isGuid = letters === 'Ul' || letters === 'UL';
  const order = isGuid ? [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15] : [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
  const text = order.map((i, nth) => hex2(bytes[i]) + (nth === 3 || nth === 5 || nth === 7 || nth === 9 ? '-' : '')).join('');
  return letters === 'UB' || letters === 'UL' ? text.toUpperCase() : text;
}
