import { ByteView } from '../base/byte-view.ts';
import { allocated, grown } from '../base/growable.ts';
import type { SampleOffsets } from '../perfdata/sample-layout.ts';

/** Dumps lie in blocks of so many bytes. A record has 64 KB at most, and so has what is copied of it. */
const BLOCK_BYTES = 1 << 20;
/** Empty blocks that are kept for what comes next. */
const MAX_SPARE_BLOCKS = 8;
/** What is copied of a sample begins at a multiple of so many bytes. */
const ALIGNMENT = 8;

/** PERF_SAMPLE_REGS_ABI_NONE of perf_event.h: the sample has no registers. */
const ABI_NONE = 0;

interface Block {
  readonly view: ByteView;
  used: number;
  /** Number of dumps in it that are not freed. */
  live: number;
}

/**
 * User registers and stacks of the samples that wait for their turn in time: only then it is known what was mapped where. Each is copied once,
 * as much of it as was really dumped, and freed when its sample has been played, so that there are as many as a round has.
 */
export class StackDumps {
  readonly #littleEndian: boolean;
  #blocks: Block[] = [];
  readonly #spare: Block[] = [];
  #current: Block | undefined;
  /** By place: where the registers begin in the block of that number, what kind they are, and how many bytes of stack follow them. */
  #blockOf: (Block | undefined)[] = [];
  #regsAt = new Uint32Array(256);
  #regsBytes = new Uint32Array(256);
  #stackBytes = new Uint32Array(256);
  #abi = new Uint8Array(256);
  readonly #freePlaces: number[] = [];

  constructor(littleEndian: boolean) {
    this.#littleEndian = littleEndian;
  }

  /** Bytes of the blocks. */
  get heldBytes(): number {
    return (this.#blocks.length + this.#spare.length) * BLOCK_BYTES;
  }

  /**
   * Copies what a sample has.
   * @param regsCount registers that it has, if any
   * @returns its place; −1 where it has no registers or no stack
   */
  add(view: ByteView, { regsUser, stackUser }: SampleOffsets, regsCount: number): number {
    const abi = view.u64(regsUser);
    const dumpedBytes = view.u64(stackUser);
    if (abi === ABI_NONE || dumpedBytes === 0) return -1;
    const regsBytes = regsCount * 8;
    const stackBytes = Math.min(dumpedBytes, view.u64(stackUser + 8 + dumpedBytes));
    const block = this.#roomFor(regsBytes + stackBytes);
    const at = block.used;
    const { bytes } = block.view;
    bytes.set(view.bytes.subarray(regsUser + 8, regsUser + 8 + regsBytes), at);
    bytes.set(view.bytes.subarray(stackUser + 8, stackUser + 8 + stackBytes), at + regsBytes);
    block.used = Math.ceil((at + regsBytes + stackBytes) / ALIGNMENT) * ALIGNMENT;
    block.live++;
    return this.#put(block, at, regsBytes, stackBytes, abi);
  }

  /** What holds the registers and the stack of the sample at a place. */
  viewOf(place: number): ByteView {
    return this.#blockAt(place).view;
  }

  /** Offset of the registers in the view, 8 bytes each. */
  regsOffset(place: number): number {
    return this.#regsAt[place];
  }

  /** Offset of the stack in the view. */
  stackOffset(place: number): number {
    return this.#regsAt[place] + this.#regsBytes[place];
  }

  stackSizeBytes(place: number): number {
    return this.#stackBytes[place];
  }

  /** PERF_SAMPLE_REGS_ABI_*: 1 for a process of 32 bits, 2 for one of 64. */
  abi(place: number): number {
    return this.#abi[place];
  }

  /** The sample has been played. */
  free(place: number): void {
    const block = this.#blockAt(place);
    this.#blockOf[place] = undefined;
    this.#freePlaces.push(place);
    if (--block.live > 0) return;
    block.used = 0;
    if (block === this.#current) return;
    this.#blocks = this.#blocks.filter((other) => other !== block);
    if (this.#spare.length < MAX_SPARE_BLOCKS) this.#spare.push(block);
  }

  #blockAt(place: number): Block {
    const block = this.#blockOf[place];
    if (block === undefined) throw new Error(`there is no stack dump at place ${place}`);
    return block;
  }

  #roomFor(bytes: number): Block {
    const current = this.#current;
    if (current !== undefined && current.used + bytes <= BLOCK_BYTES) return current;
    const block = this.#spare.pop() ?? { view: new ByteView(allocated(Uint8Array, BLOCK_BYTES), this.#littleEndian), used: 0, live: 0 };
    this.#blocks.push(block);
    this.#current = block;
    return block;
  }

  #put(block: Block, regsAt: number, regsBytes: number, stackBytes: number, abi: number): number {
    const place = this.#freePlaces.pop() ?? this.#blockOf.length;
    if (place === this.#regsAt.length) {
      this.#regsAt = grown(this.#regsAt, place + 1);
      this.#regsBytes = grown(this.#regsBytes, place + 1);
      this.#stackBytes = grown(this.#stackBytes, place + 1);
      this.#abi = grown(this.#abi, place + 1);
    }
    this.#blockOf[place] = block;
    this.#regsAt[place] = regsAt;
    this.#regsBytes[place] = regsBytes;
    this.#stackBytes[place] = stackBytes;
    this.#abi[place] = abi;
    return place;
  }
}
