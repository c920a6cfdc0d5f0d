import { highWord } from '../../base/bytes/addresses.ts';
import type { ByteView } from '../../base/bytes/byte-view.ts';
import { allocated, grown } from '../../base/tables/growable.ts';
import * as abi from '../../perfdata/abi/constants.ts';
import { cpumodeOfMarker, isMarker, MARKER_HIGH, markerOf, USER_MARKER } from './callchain-entries.ts';

const MAX_LOAD = 0.6;
/**
 * Words of a slot: hash, chain + 1, start and end of its words. Only the words themselves are elsewhere. A free slot is all zeros, as memory from the system
 * is: slots that are never touched take neither time nor room.
 */
const SLOT_WORDS = 4;
/** System-wide recordings have one distinct chain per 300 to 600 bytes. */
const BYTES_PER_SLOT = 512;
const MIN_FIRST_SLOTS = 1 << 10;
const MAX_FIRST_SLOTS = 1 << 20;
const MIN_FIRST_WORDS = 1 << 13;
const MAX_FIRST_WORDS = 1 << 25;

/**
 * Recorded callchains, each once, as in the file: 64-bit entries, leaf first, with context markers among them. What they mean depends on the process and on the
 * moment; this table only knows the numbers.
 */
export class CallchainTable {
  /** All chains one after the other, two words (low, high) per entry. Replaced when it grows. */
  words: Uint32Array;
  #ends = new Uint32Array(4096);
  #hasUserFrames = new Uint8Array(4096);
  #slots: Int32Array;
  #mask: number;
  #size = 0;

  /**
   * @param recordingBytes size of the recording, from which the first sizes are guessed: growing costs more than unused memory, which the operating system
   * never really allocates
   */
  constructor(recordingBytes = 0) {
    this.words = new Uint32Array(Math.max(MIN_FIRST_WORDS, Math.min(recordingBytes / 8, MAX_FIRST_WORDS)));
    let slots = MIN_FIRST_SLOTS;
    while (slots < MAX_FIRST_SLOTS && slots * BYTES_PER_SLOT < recordingBytes) slots *= 2;
    this.#slots = new Int32Array(slots * SLOT_WORDS);
    this.#mask = slots - 1;
  }

  /** Number of distinct chains. */
  get size(): number {
    return this.#size;
  }

  /** How many bytes the chains take, and the slots by which they are found. */
  get heldBytes(): number {
    return (this.#size === 0 ? 0 : this.#ends[this.#size - 1]) * 4 + this.#size * 5 + this.#slots.length * 4;
  }

  /** Index in {@link words} of a chain's first word. */
  startOf(chain: number): number {
    return chain === 0 ? 0 : this.#ends[chain - 1];
  }

  /** Index just after a chain's last word. */
  endOf(chain: number): number {
    return this.#ends[chain];
  }

  /** Whether the chain holds addresses whose meaning depends on the process. */
  hasUserFrames(chain: number): boolean {
    return this.#hasUserFrames[chain] === 1;
  }

  /** Number of addresses in the chain before its user part. */
  kernelDepth(chain: number): number {
    const { words } = this;
    const end = this.userPartOf(chain);
    let depth = 0;
    for (let at = this.startOf(chain); at < end; at += 2) if (!isMarker(words[at], words[at + 1])) depth++;
    return depth;
  }

  /** Number of addresses in the chain's user part, up to the next marker; 0 without one. */
  userDepth(chain: number): number {
    const { words } = this;
    const end = this.endOf(chain);
    const first = this.userPartOf(chain) + 2;
    let at = first;
    while (at < end && !isMarker(words[at], words[at + 1])) at += 2;
    return Math.max(0, at - first) / 2;
  }

  /** Whether the sampled code itself was user code: the chain begins in it. */
  startsInUserCode(chain: number): boolean {
    return cpumodeOfMarker(this.words[this.startOf(chain)]) === abi.PERF_RECORD_MISC_USER;
  }

  /**
   * Index of the chain whose `count` entries lie at `offset`.
   * @param cpumode mode of the entries before the first marker; a chain that starts with a marker does not need it
   */
  intern(view: ByteView, offset: number, count: number, cpumode: number): number {
    // hot
    const start = this.#roomFor(count + 1);
    const { words } = this;
    let at = start;
    let hash = 0;
    if (count === 0 || !isMarker(view.lo(offset), view.hi(offset))) {
      const marker = markerOf(cpumode);
      words[at++] = marker;
      words[at++] = MARKER_HIGH;
      hash = mix(hash, marker, MARKER_HIGH);
    }
    return this.#internTail(start, at + count * 2, this.#append(view, offset, count, at, hash));
  }

  /**
   * Index of the chain that begins with a separate address, the leaf, and goes on with the `count` entries at `offset`.
   * @param cpumode mode of the leaf, and of the entries before the first marker
   */
  internWithLeaf(lo: number, hi: number, view: ByteView, offset: number, count: number, cpumode: number): number {
    // hot
    const start = this.#roomFor(count + 2);
    const { words } = this;
    const marker = markerOf(cpumode);
    words[start] = marker;
    words[start + 1] = MARKER_HIGH;
    words[start + 2] = lo;
    words[start + 3] = hi;
    const hash = mix(mix(0, marker, MARKER_HIGH), lo, hi);
    return this.#internTail(start, start + 4 + count * 2, this.#append(view, offset, count, start + 4, hash));
  }

  /** Makes room for a chain of that many entries after the last one. @returns index of its first word */
  #roomFor(entries: number): number {
    // hot
    const start = this.#size === 0 ? 0 : this.#ends[this.#size - 1];
    if (start + entries * 2 > this.words.length) this.words = grown(this.words, start + entries * 2);
    return start;
  }

  /** Copies the `count` entries at `offset` to `words[at]`. @returns the hash with them mixed in */
  #append(view: ByteView, offset: number, count: number, to: number, before: number): number {
    // hot
    const { words } = this;
    let at = to;
    let hash = before;
    const source = view.words;
    if (source !== undefined && view.littleEndian && (offset & 3) === 0) {
      for (let from = offset >>> 2, end = from + count * 2; from < end; from += 2, at += 2) {
        const lo = source[from];
        const hi = source[from + 1];
        words[at] = lo;
        words[at + 1] = hi;
        hash = mix(hash, lo, hi);
      }
    } else {
      for (let from = offset, end = from + count * 8; from < end; from += 8, at += 2) {
        const lo = view.lo(from);
        const hi = view.hi(from);
        words[at] = lo;
        words[at + 1] = hi;
        hash = mix(hash, lo, hi);
      }
    }
    return hash;
  }

  /** Index of the chain of a single address, which stands for a sample without a callchain. */
  internSingle(lo: number, hi: number, cpumode: number): number {
    // hot
    const start = this.#roomFor(2);
    const { words } = this;
    const marker = markerOf(cpumode);
    words[start] = marker;
    words[start + 1] = MARKER_HIGH;
    words[start + 2] = lo;
    words[start + 3] = hi;
    return this.#internTail(start, start + 4, mix(mix(0, marker, MARKER_HIGH), lo, hi));
  }

  /**
   * Index of a sample's chain joined with its user part, which came in a separate record.
   * @param chain the sample's chain without that part
   * @param kernelChain the sample's chain as it was recorded; differs from `chain` if the sample's own address was put in front, as the leaf
   * @param userChain the user part
   * @param leafIsSampleIp whether that was done because the leaf has to be the sample's own address, not because there was no other
   */
  internJoined(chain: number, kernelChain: number, userChain: number, leafIsSampleIp: boolean): number {
    if (chain === kernelChain) return this.#internBoth(chain, userChain);
    if (!this.#hasAddress(userChain)) return chain;
    const isLeafMissing = leafIsSampleIp && (this.#hasAddress(kernelChain) || !this.#beginAlike(chain, userChain));
    return this.#internBoth(isLeafMissing ? chain : kernelChain, userChain);
  }

  /** Index of the chain with a caller inserted after the first address of its user part. That part must have one. */
  internWithCaller(chain: number, address: number): number {
    const end = this.endOf(chain);
    const start = this.#roomFor((end - this.startOf(chain)) / 2 + 1);
    const { words } = this;
    const rest = this.userPartOf(chain) + 4;
    const at = start + rest - this.startOf(chain);
    words.copyWithin(start, this.startOf(chain), rest);
    words[at] = address;
    words[at + 1] = highWord(address);
    words.copyWithin(at + 2, rest, end);
    return this.#internCopied(start, at + 2 + end - rest);
  }

  /** Index of a chain without one of its entries. @param entry its position among all of them, context markers included */
  internWithout(chain: number, entry: number): number {
    const [from, end] = [this.startOf(chain), this.endOf(chain)];
    const start = this.#roomFor((end - from) / 2);
    const { words } = this;
    const at = start + entry * 2;
    words.copyWithin(start, from, from + entry * 2);
    words.copyWithin(at, from + entry * 2 + 2, end);
    return this.#internCopied(start, start + end - from - 2);
  }

  /** Index of a chain without the zeros before its user part. */
  internWithoutZeros(chain: number): number {
    const [from, userPart, end] = [this.startOf(chain), this.userPartOf(chain), this.endOf(chain)];
    const start = this.#roomFor((end - from) / 2);
    const { words } = this;
    let to = start;
    for (let at = from; at < end; at += 2) {
      if (at < userPart && words[at] === 0 && words[at + 1] === 0) continue;
      words[to++] = words[at];
      words[to++] = words[at + 1];
    }
    return to - start === end - from ? chain : this.#internCopied(start, to);
  }

  #internBoth(first: number, second: number): number {
    const firstWords = this.endOf(first) - this.startOf(first);
    const start = this.#roomFor((firstWords + this.endOf(second) - this.startOf(second)) / 2);
    const { words } = this;
    words.copyWithin(start, this.startOf(first), this.endOf(first));
    words.copyWithin(start + firstWords, this.startOf(second), this.endOf(second));
    return this.#internCopied(start, start + firstWords + this.endOf(second) - this.startOf(second));
  }

  /** Index of the chain that was just copied together after the last one. */
  #internCopied(start: number, end: number): number {
    const { words } = this;
    let hash = 0;
    for (let at = start; at < end; at += 2) hash = mix(hash, words[at], words[at + 1]);
    return this.#internTail(start, end, hash);
  }

  /** Whether a chain has an address, with nothing but markers of known contexts before it. */
  #hasAddress(chain: number): boolean {
    const { words } = this;
    for (let at = this.startOf(chain), end = this.endOf(chain); at < end; at += 2) {
      if (!isMarker(words[at], words[at + 1])) return true;
      if (cpumodeOfMarker(words[at]) < 0) return false;
    }
    return false;
  }

  /** Whether two chains begin with the same address in the same mode. */
  #beginAlike(one: number, other: number): boolean {
    const { words } = this;
    const a = this.startOf(one);
    const b = this.startOf(other);
    for (let i = 0; i < 4; i++) if (a + i >= this.endOf(one) || b + i >= this.endOf(other) || words[a + i] !== words[b + i]) return false;
    return true;
  }

  /** Index in {@link words} of the marker of a chain's user part; that of the chain's end if it has none. */
  userPartOf(chain: number): number {
    const { words } = this;
    const end = this.endOf(chain);
    for (let at = this.startOf(chain); at < end; at += 2) {
      if (words[at] === USER_MARKER && words[at + 1] === MARKER_HIGH) return at;
    }
    return end;
  }

  /** Index of the chain that was just written after the last one; keeps it there if it is new. */
  #internTail(start: number, end: number, mixed: number): number {
    // hot
    const { words } = this;
    const slots = this.#slots;
    const hash = mixed ^ (mixed >>> 16);
    const length = end - start;
    let at = (hash & this.#mask) * SLOT_WORDS;
    while (slots[at + 1] !== 0) {
      if (slots[at] === hash && slots[at + 3] - slots[at + 2] === length) {
        let i = start;
        let j = slots[at + 2];
        while (i < end && words[i] === words[j]) {
          i++;
          j++;
        }
        if (i === end) return slots[at + 1] - 1;
      }
      at = (at + SLOT_WORDS) & (slots.length - 1);
    }
    const chain = this.#size++;
    this.#ends = grown(this.#ends, chain + 1);
    this.#hasUserFrames = grown(this.#hasUserFrames, chain + 1);
    this.#ends[chain] = end;
    this.#hasUserFrames[chain] = holdsUserFrames(words, start, end) ? 1 : 0;
    slots[at] = hash;
    slots[at + 1] = chain + 1;
    slots[at + 2] = start;
    slots[at + 3] = end;
    if (this.#size > this.#mask * MAX_LOAD) this.#rehash();
    return chain;
  }

  #rehash(): void {
    const old = this.#slots;
    const slots = allocated(Int32Array, old.length * 2);
    this.#mask = this.#mask * 2 + 1;
    for (let from = 0; from < old.length; from += SLOT_WORDS) {
      if (old[from + 1] === 0) continue;
      let at = (old[from] & this.#mask) * SLOT_WORDS;
      while (slots[at + 1] !== 0) at = (at + SLOT_WORDS) & (slots.length - 1);
      for (let word = 0; word < SLOT_WORDS; word++) slots[at + word] = old[from + word];
    }
    this.#slots = slots;
  }
}

/** Mixes an entry into a chain's hash: only one multiplication has to wait for the entry before. */
function mix(hash: number, lo: number, hi: number): number {
  const mixed = Math.imul(hash ^ lo ^ Math.imul(hi, 0x85ebca6b), 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

function holdsUserFrames(words: Uint32Array, start: number, end: number): boolean {
  let isUser = false;
  for (let i = start; i < end; i += 2) {
    if (isMarker(words[i], words[i + 1])) {
      const cpumode = cpumodeOfMarker(words[i]);
      // Which virtual machine's kernel it is depends on the process, too.
      isUser = cpumode === abi.PERF_RECORD_MISC_USER || cpumode === abi.PERF_RECORD_MISC_CPUMODE_UNKNOWN || cpumode === abi.PERF_RECORD_MISC_GUEST_KERNEL;
    } else if (isUser) {
      return true;
    }
  }
  return false;
}
