import type { Frame } from '../call-tree.ts';
import { UnresolvedFrame } from '../frame-tree.ts';
import { type JsonWriter, utf8 } from '../json-text.ts';
import { TextCache } from '../text-cache.ts';
import { quotedForChrome } from './text.ts';

/** How frames are written: a name as a JSON string literal, with text before and after it. */
export interface FrameForm {
  readonly before: string;
  /** The name to write for a function. */
  nameOf(functionName: string): string;
  /** Must be the same for all unknown functions of a mapping with the same {@link Frame.isKernel}. */
  after(frame: Frame): string;
}

/** In place of a second piece, for a frame that is written in one piece. */
const WHOLE = -1;

/**
 * The encoded frames of a call tree. An address without a function is written in two pieces. The second, with the name
 * of the file and perhaps its path, is encoded once for all addresses of the file.
 */
export class FrameBytes {
  readonly #frames: readonly Frame[];
  readonly #form: FrameForm;
  /** By frame: all of its bytes, or the first piece. */
  readonly #heads: TextCache<Uint8Array>;
  /** By frame: index of its second piece, or {@link WHOLE}. */
  readonly #tailOf: Int32Array;
  /** The second pieces: one for each (mapping, kernel code or not). */
  readonly #tails: TextCache<Uint8Array>;

  /** @param frames all frames; none may be added later */
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
    this.#tails = new TextCache(examples.length, (tail) => utf8(quotedForChrome(examples[tail].addressSuffix).slice(1) + form.after(examples[tail])));
  }

  write(out: JsonWriter, frame: number): void {
    // hot
    out.bytes(this.#heads.get(frame));
    const tail = this.#tailOf[frame];
    if (tail !== WHOLE) out.bytes(this.#tails.get(tail));
  }

  #headOf(index: number): Uint8Array {
    const { before, nameOf, after } = this.#form;
    const frame = this.#frames[index];
    // An address needs no escapes, and no name that begins with one is reserved.
    if (frame instanceof UnresolvedFrame) return utf8(`${before}"${frame.address}`);
    return utf8(before + quotedForChrome(nameOf(frame.name)) + after(frame));
  }
}
