/** The words of a TIME_CONV record: from ticks of the processor's timer to the kernel's times. Source: perf_event.h, struct perf_event_mmap_page. */
export interface TimeConversion {
  readonly shift: bigint;
  readonly mult: bigint;
  readonly zero: bigint;
  /** Of timers that wrap around; 0 and all ones otherwise. */
  readonly cycles: bigint;
  readonly mask: bigint;
}

const WORD = 0x1_0000_0000;
/** Largest shift that makes sense: the parts of a tick are less than a word. */
const MAX_SHIFT = 32n;

/** Converts ticks to times, as the kernel does: exactly, and most of them without a bigint. */
export class TraceClock {
  readonly #conversion: TimeConversion;
  readonly #shift: number;
  readonly #mult: number;
  readonly #isShort: boolean;
  readonly #cyclesLo: number;
  readonly #cyclesHi: number;
  readonly #maskLo: number;
  readonly #maskHi: number;
  /** The time of the last tick without its bits below the shift, and that tick: most ticks have the same. */
  #base: bigint | undefined;
  #baseLo = 0;
  #baseHi = 0;
  #highLo = 0;
  #highHi = 0;
  /** The result of {@link convert}. */
  lo = 0;
  hi = 0;

  constructor(conversion: TimeConversion) {
    this.#conversion = conversion;
    this.#shift = Number(conversion.shift);
    this.#mult = Number(conversion.mult);
    const { cycles, mask } = conversion;
    this.#cyclesLo = Number(cycles & 0xffffffffn);
    this.#cyclesHi = Number(cycles >> 32n);
    this.#maskLo = Number(mask & 0xffffffffn);
    this.#maskHi = Number(mask >> 32n);
    this.#isShort = conversion.mask !== 0n && conversion.mask !== 2n ** 64n - 1n;
  }

  /** Whether a conversion can be used: multipliers have 32 bits. */
  static canUse({ shift, mult }: TimeConversion): boolean {
    return shift <= MAX_SHIFT && mult > 0n && mult < BigInt(WORD);
  }

  /** Converts ticks. @returns nothing: the time in nanoseconds is in {@link lo} and {@link hi} */
  convert(ticksLo: number, ticksHi: number): void {
    if (this.#isShort) {
      // cycles + ((ticks - cycles) & mask), by words.
      const lo = ticksLo - this.#cyclesLo;
      const hi = ticksHi - this.#cyclesHi - (lo < 0 ? 1 : 0);
      const sum = this.#cyclesLo + ((lo & this.#maskLo) >>> 0);
      const sumHi = this.#cyclesHi + ((hi & this.#maskHi) >>> 0) + (sum < WORD ? 0 : 1);
      this.#convert(sum >>> 0, sumHi >>> 0);
    } else {
      this.#convert(ticksLo, ticksHi);
    }
  }

  #convert(lo: number, hi: number): void {
    const shift = this.#shift;
    const low = lo % 2 ** shift;
    const highLo = lo - low;
    if (highLo !== this.#highLo || hi !== this.#highHi || this.#base === undefined) this.#setBase(highLo, hi);
    const sum = this.#baseLo + scaled(low, this.#mult, shift);
    this.lo = sum % WORD;
    this.hi = (this.#baseHi + Math.floor(sum / WORD)) % WORD;
  }

  #setBase(lo: number, hi: number): void {
    const { shift, mult, zero } = this.#conversion;
    const base = BigInt.asUintN(64, zero + (((BigInt(hi) << 32n) | BigInt(lo)) >> shift) * mult);
    this.#base = base;
    this.#highLo = lo;
    this.#highHi = hi;
    this.#baseLo = Number(base & 0xffffffffn);
    this.#baseHi = Number(base >> 32n);
  }
}

/** `low * mult >> shift` for numbers of at most 32 bits, exactly. */
function scaled(low: number, mult: number, shift: number): number {
  const half = 65536;
  const upper = Math.floor(low / half) * mult;
  const lower = (low % half) * mult;
  if (shift >= 16) return Math.floor((upper + Math.floor(lower / half)) / 2 ** (shift - 16));
  // Then `low` has at most 16 bits.
  return Math.floor(lower / 2 ** shift);
}
