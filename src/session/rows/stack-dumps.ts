import type { ByteView } from '../../base/bytes/byte-view.ts';
import { grown } from '../../base/tables/growable.ts';
import { PERF_SAMPLE_REGS_ABI_NONE } from '../../perfdata/abi/constants.ts';
import type { SampleOffsets } from '../../perfdata/samples/sample-layout.ts';
import type { Piece } from '../../perfdata/stream/pieces.ts';
import { WaitingBytes } from './waiting-bytes.ts';

/** The stack's size, between the registers and the stack, takes this much. */
const STACK_SIZE_BYTES = 8;

/**
 * User registers and stacks of samples that wait for their turn in time: only then is it known what was mapped where. Only what was actually dumped is kept.
 */
export class StackDumps {
  readonly #bytes: WaitingBytes;
  /** By place: how many bytes of registers there are, how many of the stack after them, and the ABI of the registers. */
  #regsBytes = new Uint32Array(256);
  #stackBytes = new Uint32Array(256);
  #abi = new Uint8Array(256);
  #isWhole = new Uint8Array(256);
  #isExact = new Uint8Array(256);

  constructor(littleEndian: boolean) {
    this.#bytes = new WaitingBytes(littleEndian);
  }

  /** How many bytes are held. */
  get heldBytes(): number {
    return this.#bytes.heldBytes;
  }

  /**
   * Keeps a sample's registers and, if it was to have one, its stack.
   * @param regsCount how many registers it has, if any
   * @param piece see {@link WaitingBytes.add}
   * @param isExact whether it was sampled in user code, at exactly its address
   * @returns its place; −1 if it has no registers, or no stack although it was to have one
   */
  add(view: ByteView, { regsUser, stackUser }: SampleOffsets, regsCount: number, piece: Piece | undefined, isExact = false): number {
    const abi = view.u64(regsUser);
    const hasStack = stackUser >= 0;
    const dumpedBytes = hasStack ? view.u64(stackUser) : 0;
    if (abi === PERF_SAMPLE_REGS_ABI_NONE || (hasStack && dumpedBytes === 0)) return -1;
    const regsBytes = regsCount * 8;
    const stackBytes = hasStack ? Math.min(dumpedBytes, view.u64(stackUser + 8 + dumpedBytes)) : 0;
    // The stack's size and the stack itself follow the registers.
    const first = regsUser + 8;
    const end = hasStack ? stackUser + 8 + stackBytes : first + regsBytes;
    const place = this.#bytes.add(view, first, end, piece);
    if (place >= this.#abi.length) {
      this.#regsBytes = grown(this.#regsBytes, place + 1);
      this.#stackBytes = grown(this.#stackBytes, place + 1);
      this.#abi = grown(this.#abi, place + 1);
      this.#isWhole = grown(this.#isWhole, place + 1);
      this.#isExact = grown(this.#isExact, place + 1);
    }
    this.#regsBytes[place] = regsBytes;
    this.#stackBytes[place] = stackBytes;
    this.#abi[place] = abi;
    this.#isWhole[place] = stackBytes === dumpedBytes ? 1 : 0;
    this.#isExact[place] = isExact ? 1 : 0;
    return place;
  }

  /** What holds the registers and the stack of the sample at a place. */
  viewOf(place: number): ByteView {
    return this.#bytes.viewOf(place);
  }

  /** Offset of the registers in the view, 8 bytes each. */
  regsOffset(place: number): number {
    return this.#bytes.offsetOf(place);
  }

  /** Offset of the stack in the view. */
  stackOffset(place: number): number {
    return this.#bytes.offsetOf(place) + this.#regsBytes[place] + STACK_SIZE_BYTES;
  }

  stackSizeBytes(place: number): number {
    return this.#stackBytes[place];
  }

  /** Whether as much was dumped as was asked for. If not, the stack ends there, or goes on in memory that was never touched: the kernel does not read that. */
  isWhole(place: number): boolean {
    return this.#isWhole[place] === 1;
  }

  /** Whether the sample was taken in user code, at exactly its address. */
  isExact(place: number): boolean {
    return this.#isExact[place] === 1;
  }

  /** The ABI of the registers: PERF_SAMPLE_REGS_ABI_32 or PERF_SAMPLE_REGS_ABI_64. */
  abi(place: number): number {
    return this.#abi[place];
  }

  /** To be called when the sample has been replayed. */
  free(place: number): void {
    this.#bytes.free(place);
  }
}
