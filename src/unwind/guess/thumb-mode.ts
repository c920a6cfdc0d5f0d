import type { FrameView } from '../frames/frame.ts';
import type { CodeBytes } from '../memory/code-bytes.ts';
import type { UnwindModule } from '../modules/unwind-module.ts';
import type { ReturnAddresses } from '../scan/calls/return-addresses.ts';
import { ThumbGuess } from './thumb-guess.ts';

/** How far from the start of a function that was just called an address is taken to be in that function. */
const MAX_CALLED_BYTES = 1 << 10;
/** The same where hardly anything else can be: a function's first instructions, or a stub of the procedure linkage table. */
const MAX_STUB_BYTES = 16;

/** Tells whether a frame of 32-bit Arm is in Thumb code. */
export class ThumbMode {
  /** After {@link isThumb}: whether that is more than likely. */
  isKnown = false;
  readonly #frame: FrameView;
  readonly #code: CodeBytes;
  readonly #returns: ReturnAddresses;
  readonly #thumbGuess: ThumbGuess;

  constructor(frame: FrameView, code: CodeBytes, returns: ReturnAddresses) {
    this.#frame = frame;
    this.#code = code;
    this.#returns = returns;
    this.#thumbGuess = new ThumbGuess(code);
  }

  /**
   * Whether the frame's code is Thumb. A return address says so itself, and so does what a signal has saved. For a leaf whose address does not tell, it is
   * decided by the direct call that has just been made, or else by a call that has returned nearby, or by what the code looks like.
   */
  isThumb(module: UnwindModule, svma: number): boolean {
    const { registers, machine, pc, pcMode } = this.#frame;
    this.isKnown = true;
    if (pcMode >= 0) return pcMode !== 0;
    if (svma % 4 !== 0) return true;
    this.isKnown = false;
    const { lr } = machine;
    const link = (registers.lo[lr] & ~1) >>> 0;
    const mode = registers.lo[lr] & 1;
    const isKnown = registers.known[lr] === 1;
    if (isKnown && this.#returns.callBefore(link) === 'direct') {
      const { target } = this.#returns;
      const distance = pc - target;
      // Where the call itself is in between, it has returned.
      const isCalled = distance >= 0 && distance < MAX_CALLED_BYTES && !(link > target && link <= pc);
      // BL keeps the instruction set, and BLX changes it.
      if (isCalled && this.#code.read(link - 4, 4)) {
        // Farther on, it may also be the caller, before it calls again.
        this.isKnown = distance < MAX_STUB_BYTES;
        const word = this.#code.word(0);
        return mode !== 0 ? (word & 0x1000_0000) !== 0 : word >>> 28 === 0xf;
      }
    }
    // A call that has returned nearby was one of this function.
    if (isKnown && pc >= link && pc - link < MAX_CALLED_BYTES) return mode !== 0;
    return this.#thumbGuess.isThumb(module, svma);
  }
}
