import { CHAR, isDigit, isLower, isUpper } from '../chars.ts';
import { decodePunycode } from './punycode.ts';

/** 64-bit numbers have 11 digits. References back may make a number be read again and again. */
const MAX_BASE62_DIGITS = 32;

/** The terminals of RFC 2603's grammar. After a failure they return anything. */
export class RustV0Scanner {
  protected symbol = '';
  /** Index of the next character. */
  protected position = 0;
  protected failed = false;

  /** Character code; NaN at the end. */
  protected peek(): number {
    return this.symbol.charCodeAt(this.position);
  }

  protected next(): number {
    return this.symbol.charCodeAt(this.position++);
  }

  protected eat(code: number): boolean {
    if (this.symbol.charCodeAt(this.position) !== code) return false;
    this.position++;
    return true;
  }

  /** An optional number after a tag: 0 without the tag, else the written number plus 1. */
  protected tagged(tag: number): number {
    return this.eat(tag) ? this.base62() + 1 : 0;
  }

  /** `_` is 0, `0_` is 1. Not exact above 2^53. */
  protected base62(): number {
    if (this.eat(CHAR._)) return 0;
    const last = this.position + MAX_BASE62_DIGITS;
    for (let value = 0; this.position <= last; ) {
      const code = this.next();
      if (isDigit(code)) value = value * 62 + code - CHAR.zero;
      else if (isLower(code)) value = value * 62 + code - CHAR.a + 10;
      else if (isUpper(code)) value = value * 62 + code - CHAR.A + 36;
      else if (code === CHAR._) return value + 1;
      else break;
    }
    this.fail();
    return 0;
  }

  protected identifier(): string {
    const isPunycode = this.eat(CHAR.u);
    let length = this.next() - CHAR.zero;
    if (!(length >= 0 && length <= 9)) return this.fail();
    // A length has no leading zeros.
    for (let digit = length === 0 ? Number.NaN : this.peek() - CHAR.zero; digit >= 0 && digit <= 9; digit = this.peek() - CHAR.zero) {
      length = length * 10 + digit;
      this.position++;
    }
    // An underscore separates the length from a name that starts with a digit or an underscore.
    this.eat(CHAR._);
    const start = this.position;
    this.position += length;
    if (this.position > this.symbol.length) return this.fail();
    const name = this.symbol.slice(start, this.position);
    return isPunycode ? (decodePunycode(name) ?? this.fail()) : name;
  }

  /** Hexadecimal digits up to an underscore. */
  protected nibbles(): string {
    const end = this.symbol.indexOf('_', this.position);
    const nibbles = this.symbol.slice(this.position, end);
    if (end < 0 || !/^[0-9a-f]*$/.test(nibbles)) return this.fail();
    this.position = end + 1;
    return nibbles;
  }

  /** {@link nibbles} of a number, at least one, without leading zeros. */
  protected hexNumber(): string {
    const nibbles = this.nibbles();
    if (nibbles.length === 1) return nibbles;
    return nibbles === '' ? this.fail() : nibbles.replace(/^0+(?=.)/, '');
  }

  protected fail(): string {
    this.failed = true;
    return '';
  }
}
