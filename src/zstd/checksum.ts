/** Source: the xxHash specification, XXH64; each as its high and low word. */
const PRIME1_HI = 0x9e3779b1;
const PRIME1_LO = 0x85ebca87;
const PRIME2_HI = 0xc2b2ae3d;
const PRIME2_LO = 0x27d4eb4f;
const PRIME3_HI = 0x165667b1;
const PRIME3_LO = 0x9e3779f9;
const PRIME4_HI = 0x85ebca77;
const PRIME4_LO = 0xc2b2ae63;
const PRIME5_HI = 0x27d4eb2f;
const PRIME5_LO = 0x165667c5;

const STRIPE_BYTES = 32;
const BITS_16 = 0x1_0000;
const BITS_32 = 0x1_0000_0000;

/** The checksum at the end of a zstd frame: the low 32 bits of the XXH64 of its content, seed 0. 64-bit numbers are pairs of words. */
export class ZstdChecksum {
  /** Four accumulators, low word before high word. */
  readonly #lanes = new Int32Array(8);
  readonly #stripe = new Uint8Array(STRIPE_BYTES);
  readonly #stripeView = new DataView(this.#stripe.buffer);
  #held = 0;
  #total = 0;
  // The current number.
  #hi = 0;
  #lo = 0;

  constructor() {
    this.reset();
  }

  reset(): void {
    this.#held = 0;
    this.#total = 0;
    this.#start(PRIME1_HI, PRIME1_LO);
    this.#add(PRIME2_HI, PRIME2_LO);
    this.#keep(0);
    this.#start(PRIME2_HI, PRIME2_LO);
    this.#keep(1);
    this.#start(0, 0);
    this.#keep(2);
    // 0 − PRIME1
    this.#start(~PRIME1_HI, ~PRIME1_LO);
    this.#add(0, 1);
    this.#keep(3);
  }

  update(bytes: Uint8Array): void {
    this.#total += bytes.length;
    let at = 0;
    if (this.#held > 0) {
      at = Math.min(STRIPE_BYTES - this.#held, bytes.length);
      this.#stripe.set(bytes.subarray(0, at), this.#held);
      this.#held += at;
      if (this.#held < STRIPE_BYTES) return;
      this.#takeStripe(this.#stripeView, 0);
      this.#held = 0;
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (; at + STRIPE_BYTES <= bytes.length; at += STRIPE_BYTES) this.#takeStripe(view, at);
    this.#held = bytes.length - at;
    this.#stripe.set(bytes.subarray(at));
  }

  /** Low 32 bits of the hash of everything so far. */
  digest(): number {
    if (this.#total >= STRIPE_BYTES) {
      this.#mergeLanes();
    } else {
      this.#start(PRIME5_HI, PRIME5_LO);
    }
    this.#add(Math.floor(this.#total / BITS_32), this.#total | 0);
    let at = 0;
    for (; at + 8 <= this.#held; at += 8) {
      const [hi, lo] = [this.#hi, this.#lo];
      this.#start(this.#stripeView.getInt32(at + 4, true), this.#stripeView.getInt32(at, true));
      this.#round();
      this.#xor(hi, lo);
      this.#rotate(27);
      this.#multiply(PRIME1_HI, PRIME1_LO);
      this.#add(PRIME4_HI, PRIME4_LO);
    }
    for (; at + 4 <= this.#held; at += 4) {
      const [hi, lo] = [this.#hi, this.#lo];
      this.#start(0, this.#stripeView.getInt32(at, true));
      this.#multiply(PRIME1_HI, PRIME1_LO);
      this.#xor(hi, lo);
      this.#rotate(23);
      this.#multiply(PRIME2_HI, PRIME2_LO);
      this.#add(PRIME3_HI, PRIME3_LO);
    }
    for (; at < this.#held; at++) {
      const [hi, lo] = [this.#hi, this.#lo];
      this.#start(0, this.#stripe[at]);
      this.#multiply(PRIME5_HI, PRIME5_LO);
      this.#xor(hi, lo);
      this.#rotate(11);
      this.#multiply(PRIME1_HI, PRIME1_LO);
    }
    this.#xorShift(33);
    this.#multiply(PRIME2_HI, PRIME2_LO);
    this.#xorShift(29);
    this.#multiply(PRIME3_HI, PRIME3_LO);
    this.#xorShift(32);
    return this.#lo >>> 0;
  }

  #takeStripe(view: DataView, at: number): void {
    // hot
    const lanes = this.#lanes;
    for (let lane = 0; lane < 4; lane++) {
      this.#start(view.getInt32(at + lane * 8 + 4, true), view.getInt32(at + lane * 8, true));
      this.#multiply(PRIME2_HI, PRIME2_LO);
      this.#add(lanes[lane * 2 + 1], lanes[lane * 2]);
      this.#rotate(31);
      this.#multiply(PRIME1_HI, PRIME1_LO);
      this.#keep(lane);
    }
  }

  #mergeLanes(): void {
    const lanes = this.#lanes;
    let [hi, lo] = [0, 0];
    for (const [lane, bits] of [1, 7, 12, 18].entries()) {
      this.#start(lanes[lane * 2 + 1], lanes[lane * 2]);
      this.#rotate(bits);
      this.#add(hi, lo);
      [hi, lo] = [this.#hi, this.#lo];
    }
    for (let lane = 0; lane < 4; lane++) {
      this.#start(lanes[lane * 2 + 1], lanes[lane * 2]);
      this.#round();
      this.#xor(hi, lo);
      this.#multiply(PRIME1_HI, PRIME1_LO);
      this.#add(PRIME4_HI, PRIME4_LO);
      [hi, lo] = [this.#hi, this.#lo];
    }
  }

  #start(hi: number, lo: number): void {
    this.#hi = hi | 0;
    this.#lo = lo | 0;
  }

  #keep(lane: number): void {
    this.#lanes[lane * 2] = this.#lo;
    this.#lanes[lane * 2 + 1] = this.#hi;
  }

  /** A round that starts from an accumulator of 0. */
  #round(): void {
    this.#multiply(PRIME2_HI, PRIME2_LO);
    this.#rotate(31);
    this.#multiply(PRIME1_HI, PRIME1_LO);
  }

  #add(hi: number, lo: number): void {
    const sum = (this.#lo >>> 0) + (lo >>> 0);
    this.#hi = (this.#hi + hi + (sum >= BITS_32 ? 1 : 0)) | 0;
    this.#lo = sum | 0;
  }

  #xor(hi: number, lo: number): void {
    this.#hi ^= hi;
    this.#lo ^= lo;
  }

  /** Exclusive or of the number and itself, shifted right. */
  #xorShift(bits: number): void {
    const { hi, lo } = { hi: this.#hi, lo: this.#lo };
    if (bits >= 32) {
      this.#lo ^= hi >>> (bits - 32);
    } else {
      this.#lo ^= (lo >>> bits) | (hi << (32 - bits));
      this.#hi ^= hi >>> bits;
    }
  }

  /** Rotates to the left, by 1 to 31 bits. */
  #rotate(bits: number): void {
    const hi = this.#hi;
    const lo = this.#lo;
    this.#hi = (hi << bits) | (lo >>> (32 - bits));
    this.#lo = (lo << bits) | (hi >>> (32 - bits));
  }

  #multiply(hi: number, lo: number): void {
    const a = this.#lo >>> 0;
    // Products of 32 and 16 bits are exact in a double.
    const low = a * (lo & 0xffff);
    const carry = Math.floor((a * (lo >>> 16) + Math.floor(low / BITS_16)) / BITS_16);
    this.#hi = (carry + Math.imul(this.#lo, hi) + Math.imul(this.#hi, lo)) | 0;
    this.#lo = Math.imul(this.#lo, lo);
  }
}
