/** How far back copies reach at most. Source: RFC 1951, section 2. */
const WINDOW_BYTES = 32 << 10;
const MAX_COPY_BYTES = 258;
/** Room for what is written before it is passed on, behind the window. */
const OUT_BYTES = 4 * WINDOW_BYTES;
/** Bytes of zeros after the input: no symbol reaches further, so that its bits can be read before it is known whether they are there. */
const PADDING_BYTES = 8;

const MAX_CODE_BITS = 15;
const END_OF_BLOCK = 256;
const MAX_LITERAL_CODES = 286;
const MAX_DISTANCE_CODES = 30;

/** Source: RFC 1951, 3.2.5: what lengths and distances begin with, and how many further bits they have. */
const LENGTH_BASES = Uint16Array.of(3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258);
const LENGTH_BITS = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0);
const DISTANCE_BITS = Uint8Array.from({ length: MAX_DISTANCE_CODES }, (_, code) => Math.max(0, (code >> 1) - 1));
const DISTANCE_BASES = Uint16Array.from({ length: MAX_DISTANCE_CODES }, (_, code) => (code < 2 ? code : (2 + (code & 1)) << DISTANCE_BITS[code]) + 1);
/** Source: RFC 1951, 3.2.7. */
const CODE_LENGTH_ORDER = Uint8Array.of(16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15);

/** Prefix codes: by the next bits, the symbol times 16 plus how many of the bits are its code; 0 for bits that begin no code. */
interface Codes {
  readonly table: Uint16Array;
  readonly mask: number;
}

/** Source: RFC 1951, 3.2.6. */
const FIXED_LITERALS = Uint8Array.from({ length: 288 }, (_, symbol) => (symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8));
let fixedCodes: { readonly literals: Codes; readonly distances: Codes } | undefined;

/** What the next bits are. */
type Part = 'header' | 'stored' | 'symbols' | 'done';

/**
 * Unpacks deflate (RFC 1951), which it is given in pieces. Unlike the DecompressionStream of browsers, it knows where the data end, so that other data may
 * follow, and gives all that comes before damage.
 */
export class Inflater {
  /** Input that did not suffice for the next symbol or header, and zeros. */
  #input = new Uint8Array(PADDING_BYTES);
  #inputBytes = 0;
  #at = 0;
  /** Bits that were read from the input, the next one lowest, and how many. */
  #held = 0;
  #heldBits = 0;
  #part: Part = 'header';
  #isLastBlock = false;
  /** Bytes of a stored block that are still to come. */
  #storedBytes = 0;
  #literals: Codes | undefined;
  #distances: Codes | undefined;
  /** The window, and what follows it. */
  readonly #out = new Uint8Array(WINDOW_BYTES + OUT_BYTES + MAX_COPY_BYTES);
  #outAt = WINDOW_BYTES;
  /** From where on it was not passed on yet. */
  #passedTo = WINDOW_BYTES;
  /** Where the first byte of all is, as long as it is in the window. */
  #firstAt = WINDOW_BYTES;

  /**
   * Unpacks what can be unpacked with these bytes.
   * @param take gets the pieces, each of which is only valid until it returns
   * @returns how many of the bytes, the last ones, follow the end of the data
   * @throws Error after what comes before the damage was taken
   */
  write(bytes: Uint8Array, take: (piece: Uint8Array) => void): number {
    if (this.#isDone) return bytes.length;
    const left = this.#inputBytes - this.#at;
    // The input itself is not kept, since whoever gives it may overwrite it.
    const input = new Uint8Array(left + bytes.length + PADDING_BYTES);
    input.set(this.#input.subarray(this.#at, this.#inputBytes));
    input.set(bytes, left);
    this.#input = input;
    this.#inputBytes = left + bytes.length;
    this.#at = 0;
    try {
      while (this.#step(take));
    } finally {
      this.#pass(take);
      this.#putBack();
    }
    return this.#isDone ? this.#inputBytes - this.#at : 0;
  }

  /** Ends the input. @throws Error if the data are cut off */
  end(): void {
    if (!this.#isDone) throw new Error('unexpected end of file');
  }

  close(): void {}

  get #isDone(): boolean {
    return this.#part === 'done';
  }

  /** Goes on to the next block, or to where room is needed. @returns false if more input is needed, and at the end */
  #step(take: (piece: Uint8Array) => void): boolean {
    switch (this.#part) {
      case 'header':
        return this.#whole(() => this.#readHeader());
      case 'stored':
        return this.#copyStored(take);
      case 'symbols':
        return this.#readSymbols(take);
      case 'done':
        return false;
    }
  }

  /** Reads something; if the input ends in it, it has not happened. */
  #whole(read: () => void): boolean {
    const [at, held, heldBits] = [this.#at, this.#held, this.#heldBits];
    try {
      read();
    } catch (error) {
      // What is read beyond the end is zeros, and means nothing.
      if (!this.#isBeyondEnd) throw error;
    }
    if (!this.#isBeyondEnd) return true;
    [this.#at, this.#held, this.#heldBits, this.#part] = [at, held, heldBits, 'header'];
    return false;
  }

  /** Puts back whole bytes that were read ahead, zeros beyond the end among them. */
  #putBack(): void {
    this.#at -= this.#heldBits >> 3;
    this.#heldBits &= 7;
    this.#held &= (1 << this.#heldBits) - 1;
  }

  get #isBeyondEnd(): boolean {
    return this.#at - (this.#heldBits >> 3) > this.#inputBytes;
  }

  #readHeader(): void {
    this.#isLastBlock = this.#bits(1) === 1;
    const type = this.#bits(2);
    if (type === 0) this.#readStoredHeader();
    else if (type === 1) {
      fixedCodes ??= { literals: codesOf(FIXED_LITERALS, 'literal/lengths'), distances: codesOf(new Uint8Array(32).fill(5), 'distances') };
      [this.#literals, this.#distances, this.#part] = [fixedCodes.literals, fixedCodes.distances, 'symbols'];
    } else if (type === 2) this.#readCodes();
    else throw new Error('invalid block type');
  }

  #readStoredHeader(): void {
    this.#bits(this.#heldBits & 7);
    this.#storedBytes = this.#bits(16);
    if ((this.#storedBytes ^ this.#bits(16)) !== 0xffff) throw new Error('invalid stored block lengths');
    this.#putBack();
    this.#part = 'stored';
  }

  /** Source: RFC 1951, 3.2.7. */
  #readCodes(): void {
    const literalCount = this.#bits(5) + 257;
    const distanceCount = this.#bits(5) + 1;
    const lengthCount = this.#bits(4) + 4;
    if (literalCount > MAX_LITERAL_CODES || distanceCount > MAX_DISTANCE_CODES) throw new Error('too many length or distance symbols');
    const lengthLengths = new Uint8Array(CODE_LENGTH_ORDER.length);
    for (let nth = 0; nth < lengthCount; nth++) lengthLengths[CODE_LENGTH_ORDER[nth]] = this.#bits(3);
    const codes = codesOf(lengthLengths, 'code lengths', false);
    const lengths = new Uint8Array(literalCount + distanceCount);
    for (let at = 0; at < lengths.length; ) {
      const symbol = this.#symbol(codes);
      if (symbol < 16) {
        lengths[at++] = symbol;
        continue;
      }
      const times = symbol === 16 ? 3 + this.#bits(2) : symbol === 17 ? 3 + this.#bits(3) : 11 + this.#bits(7);
      if (at + times > lengths.length || (symbol === 16 && at === 0)) throw new Error('invalid bit length repeat');
      if (symbol === 16) lengths.fill(lengths[at - 1], at, at + times);
      at += times;
    }
    if (lengths[END_OF_BLOCK] === 0) throw new Error('invalid code -- missing end-of-block');
    this.#literals = codesOf(lengths.subarray(0, literalCount), 'literal/lengths');
    this.#distances = codesOf(lengths.subarray(literalCount), 'distances');
    this.#part = 'symbols';
  }

  #symbol({ mask, table }: Codes): number {
    this.#hold();
    const entry = table[this.#held & mask];
    if (entry === 0) throw new Error('invalid code');
    this.#bits(entry & 15);
    return entry >> 4;
  }

  /** Takes up to 16 bits. */
  #bits(count: number): number {
    this.#hold();
    const bits = this.#held & ((1 << count) - 1);
    this.#held >>>= count;
    this.#heldBits -= count;
    return bits;
  }

  /** Holds 25 bits or more. */
  #hold(): void {
    for (; this.#heldBits <= 24; this.#heldBits += 8) {
      this.#held |= (this.#at < this.#inputBytes ? this.#input[this.#at] : 0) << this.#heldBits;
      this.#at++;
    }
  }

  #copyStored(take: (piece: Uint8Array) => void): boolean {
    const size = Math.min(this.#storedBytes, this.#inputBytes - this.#at, WINDOW_BYTES + OUT_BYTES - this.#outAt);
    this.#out.set(this.#input.subarray(this.#at, this.#at + size), this.#outAt);
    this.#at += size;
    this.#outAt += size;
    this.#storedBytes -= size;
    if (this.#storedBytes === 0) this.#endBlock();
    else if (this.#at === this.#inputBytes) return false;
    else this.#makeRoom(take);
    return true;
  }

  #readSymbols(take: (piece: Uint8Array) => void): boolean {
    const input = this.#input;
    const out = this.#out;
    const { table: literals, mask: literalMask } = this.#literals!;
    const { table: distances, mask: distanceMask } = this.#distances!;
    const inputBytes = this.#inputBytes;
    const limit = WINDOW_BYTES + OUT_BYTES;
    const lastAt = inputBytes + PADDING_BYTES - 4;
    let at = this.#at;
    let held = this.#held;
    let heldBits = this.#heldBits;
    // Where the symbol begins that is read.
    let symbolAt = at;
    let symbolHeld = held;
    let symbolHeldBits = heldBits;
    let outAt = this.#outAt;
    let damage = '';
    let isEnd = false;
    // hot
    while (outAt < limit) {
      symbolAt = at;
      symbolHeld = held;
      symbolHeldBits = heldBits;
      for (; heldBits <= 24 && at < lastAt; heldBits += 8) held |= input[at++] << heldBits;
      let entry = literals[held & literalMask];
      held >>>= entry & 15;
      heldBits -= entry & 15;
      const symbol = entry >> 4;
      if (symbol < END_OF_BLOCK && entry !== 0) {
        if (at - (heldBits >> 3) > inputBytes) break;
        out[outAt++] = symbol;
        continue;
      }
      if (symbol === END_OF_BLOCK) {
        isEnd = at - (heldBits >> 3) <= inputBytes;
        break;
      }
      const lengthCode = symbol - END_OF_BLOCK - 1;
      if (entry === 0 || lengthCode >= LENGTH_BASES.length) {
        damage = 'invalid literal/length code';
        break;
      }
      const length = LENGTH_BASES[lengthCode] + (held & ((1 << LENGTH_BITS[lengthCode]) - 1));
      held >>>= LENGTH_BITS[lengthCode];
      heldBits -= LENGTH_BITS[lengthCode];
      for (; heldBits <= 24 && at < lastAt; heldBits += 8) held |= input[at++] << heldBits;
      entry = distances[held & distanceMask];
      held >>>= entry & 15;
      heldBits -= entry & 15;
      const distanceCode = entry >> 4;
      if (entry === 0 || distanceCode >= MAX_DISTANCE_CODES) {
        damage = 'invalid distance code';
        break;
      }
      const distance = DISTANCE_BASES[distanceCode] + (held & ((1 << DISTANCE_BITS[distanceCode]) - 1));
      held >>>= DISTANCE_BITS[distanceCode];
      heldBits -= DISTANCE_BITS[distanceCode];
      if (at - (heldBits >> 3) > inputBytes) break;
      if (distance > outAt - this.#firstAt) {
        damage = 'invalid distance too far back';
        break;
      }
      for (const end = outAt + length; outAt < end; outAt++) out[outAt] = out[outAt - distance];
    }
    this.#outAt = outAt;
    const isBeyondEnd = at - (heldBits >> 3) > inputBytes;
    if (damage !== '' && !isBeyondEnd) throw new Error(damage);
    // The symbol in which the input ends is read again when there is more.
    [this.#at, this.#held, this.#heldBits] = isBeyondEnd ? [symbolAt, symbolHeld, symbolHeldBits] : [at, held, heldBits];
    if (isBeyondEnd) return false;
    if (isEnd) this.#endBlock();
    else this.#makeRoom(take);
    return true;
  }

  #endBlock(): void {
    this.#part = this.#isLastBlock ? 'done' : 'header';
  }

  /** Passes on what was written, and keeps the end of it as the window. */
  #makeRoom(take: (piece: Uint8Array) => void): void {
    if (this.#outAt < WINDOW_BYTES + OUT_BYTES) return;
    this.#pass(take);
    const moved = this.#outAt - WINDOW_BYTES;
    this.#out.copyWithin(0, moved, this.#outAt);
    this.#outAt = WINDOW_BYTES;
    this.#passedTo = WINDOW_BYTES;
    this.#firstAt = Math.max(0, this.#firstAt - moved);
  }

  #pass(take: (piece: Uint8Array) => void): void {
    const piece = this.#out.subarray(this.#passedTo, this.#outAt);
    this.#passedTo = this.#outAt;
    if (piece.length > 0) take(piece);
  }
}

/**
 * The codes of symbols. Source: RFC 1951, 3.2.2.
 * @param lengths by symbol: how many bits its code has; 0 for a symbol that does not occur
 * @param what they are called in messages, which are zlib's
 * @param mayBeOne whether a single code of one bit is allowed, which leaves bits without a meaning; so is none at all
 * @throws Error for lengths that are not those of prefix codes
 */
function codesOf(lengths: Uint8Array, what: string, mayBeOne = true): Codes {
  const counts = new Uint16Array(MAX_CODE_BITS + 1);
  for (const length of lengths) counts[length]++;
  counts[0] = 0;
  let most = MAX_CODE_BITS;
  while (most > 1 && counts[most] === 0) most--;
  const next = new Uint16Array(MAX_CODE_BITS + 1);
  let unused = 1;
  for (let bits = 1, code = 0; bits <= MAX_CODE_BITS; bits++) {
    unused = 2 * unused - counts[bits];
    if (unused < 0) throw new Error(`invalid ${what} set`);
    code = (code + counts[bits - 1]) << 1;
    next[bits] = code;
  }
  if (unused > 0 && (!mayBeOne || most > 1)) throw new Error(`invalid ${what} set`);
  const table = new Uint16Array(1 << most);
  for (const [symbol, bits] of lengths.entries()) {
    if (bits === 0) continue;
    const entry = (symbol << 4) | bits;
    for (let at = reversed(next[bits]++, bits); at < table.length; at += 1 << bits) table[at] = entry;
  }
  return { table, mask: table.length - 1 };
}

/** Codes are packed from their most significant bit on. */
function reversed(code: number, bits: number): number {
  let result = 0;
  for (let bit = 0; bit < bits; bit++) result |= ((code >> bit) & 1) << (bits - 1 - bit);
  return result;
}
