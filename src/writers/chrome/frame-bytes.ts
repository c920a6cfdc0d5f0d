import { type Frame, UnresolvedFrame } from '../frame-tree.ts';
import { type JsonWriter, utf8 } from '../json-text.ts';
import { TextCache } from '../text-cache.ts';
import { quotedForChrome } from './text.ts';

/** What is written of a frame: its name as a string literal of JSON, and what is before and after it. */
export interface FrameForm {
  readonly before: string;
  /** What to call a function in place of its own name. */
  nameOf(functionName: string): string;
  /** The same for all unknown functions of one mapping and {@link Frame.isKernel}. */
  after(frame: Frame): string;
}

/** What {@link FrameBytes} notes of frames that are written in one piece. */
const WHOLE = -1;

/**
 * Frames as the bytes that are written of them. Those of addresses without a function are in two pieces, of which the second, with the name of the file
 * and perhaps its path, is made once for all addresses of the file.
 */
export class FrameBytes {
  readonly #frames: readonly Frame[];
  readonly #form: FrameForm;
  /** By frame: all of its bytes, or the first piece. */
  readonly #heads: TextCache<Uint8Array>;
  /** By frame: its second piece, or {@link WHOLE}. */
  readonly #tailOf: Int32Array;
  /** The second pieces: one for each mapping and what is kernel code in it. */
  readonly #tails: TextCache<Uint8Array>;

  /** @param frames complete: no more are added */
  constructor(frames: readonly Frame[], form: FrameForm) {
    this.#frames = frames;
    this.#form = form;
    this.#tailOf = new Int32Array(frames.length).fill(WHOLE);
    const tails = new Map<number, number>();
    const examples: UnresolvedFrame[] = [];
    frames.forEach((frame, index) => {
      if (!(frame instanceof UnresolvedFrame)) return;
      const key = 2 * frame.mapping + Number(frame.isKernel);
      let tail = tails.get(key);
      if (tail === undefined) {
        tail = examples.push(frame) - 1;
        tails.set(key, tail);
      }
      this.#tailOf[index] = tail;
    });
    this.#heads = new TextCache(frames.length, (frame) => this.#headOf(frame));
    this.#tails = new TextCache(examples.length, (tail) => utf8(quotedForChrome(examples[tail].behindAddress).slice(1) + form.after(examples[tail])));
  }

  write(out: JsonWriter, frame: number): void {
    // hot
    out.bytes(this.#heads.get(frame));
    const tail = this.#tailOf[frame];
    if (tail !== WHOLE) out.bytes(this.#tails.get(tail));
  }

  /** How many bytes {@link write} writes. */
  measure(frame: number): number {
    const tail = this.#tailOf[frame];
    return this.#heads.get(frame).length + (tail === WHOLE ? 0 : this.#tails.get(tail).length);
  }

  #headOf(index: number): Uint8Array {
    const { before, nameOf, after } = this.#form;
    const frame = this.#frames[index];
    // Nothing in an address is written otherwise than it is, and no name that begins with one has a meaning of its own.
    if (frame instanceof UnresolvedFrame) return utf8(`${before}"${frame.address}`);
    return utf8(before + quotedForChrome(nameOf(frame.name)) + after(frame));
  }
}
