import { addressOf } from './addresses.ts';

/** The value of an ASCII hexadecimal digit of either case; −1 for any other byte, and if there is no byte. */
export function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : -1;
}

/** A number of up to 64 bits in hexadecimal digits. One object reads many, one after another. */
export class HexNumber {
  /** How many digits the last number had; 0 if there was no number. */
  digits = 0;
  /** Its upper and lower 32 bits, each of either sign. */
  hi = 0;
  lo = 0;

  /**
   * Reads the digits that begin at `from`, up to the first byte that is not a digit. If there are more than 16, the last ones count.
   * @returns where they end
   */
  read(bytes: Uint8Array, from: number): number {
    // hot
    let hi = 0;
    let lo = 0;
    let at = from;
    for (let digit = hexDigit(bytes[at]); digit >= 0; digit = hexDigit(bytes[++at])) {
      hi = (hi << 4) | (lo >>> 28);
      lo = (lo << 4) | digit;
    }
    this.digits = at - from;
    this.hi = hi;
    this.lo = lo;
    return at;
  }

  /** As an address: see {@link addressOf}. */
  get signed(): number {
    return addressOf(this.hi, this.lo);
  }
}
