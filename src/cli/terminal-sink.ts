import type { ByteSink } from '../base/byte-sink.ts';
import { printableLines } from '../base/printable.ts';
import { decodeText } from '../base/text.ts';

/** The colours that `report` and `info` use. Source: ECMA-48, 8.3.117, SGR: bold, normal; red, green, default. */
const COLOURS = /(\x1b\[(?:1|22|31|32|39)m)/;

/**
 * Writes text to a terminal with all escaped that it would act on: names of a recording must not move its cursor, change its title or turn the
 * direction of what follows. Each chunk has whole characters, as writers hand them over.
 */
export class TerminalSink implements ByteSink {
  readonly #target: ByteSink;
  readonly #isColoured: boolean;

  /** @param isColoured whether the text has colours of ours; names are printable in it already */
  constructor(target: ByteSink, isColoured: boolean) {
    this.#target = target;
    this.#isColoured = isColoured;
  }

  write(chunk: Uint8Array): Promise<void> {
    const text = decodeText(chunk);
    // Every other piece is a colour.
    const pieces = this.#isColoured ? text.split(COLOURS) : [text];
    return this.#target.write(new TextEncoder().encode(pieces.map((piece, i) => (i % 2 === 0 ? printableLines(piece) : piece)).join('')));
  }
}
