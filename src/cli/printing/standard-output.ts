import { PerfconvError } from '../../base/problems/errors.ts';
import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { printableLines } from '../../base/text/printable.ts';
import { decodeText } from '../../base/text/text.ts';
import { openStandardOutput } from '../../host/output/standard-output.ts';
import { systemCode } from '../../host/system/io-error.ts';
import type { Terminal } from './terminal.ts';

/** The name of standard output in messages. */
const STANDARD_OUTPUT = 'standard output';

/**
 * Opens standard output for a command's result. It is opened before the work, so that a closed standard output is
 * reported at once. Bytes are written unchanged, except to a terminal: see {@link TerminalSink}.
 * @param isColored whether the text contains colors of this program
 * @throws PerfconvError `io`
 */
export function standardOutput({ stdout }: Pick<Terminal, 'stdout'>, isColored = false): ByteSink {
  const sink = openStandardOutput(stdout, STANDARD_OUTPUT);
  return stdout.isTTY ? new TerminalSink(sink, isColored) : sink;
}

/** Whether the reader of standard output has gone away (`| head`), which is not a failure. */
export function isReaderGone(error: unknown): boolean {
  return error instanceof PerfconvError && error.file === STANDARD_OUTPUT && systemCode(error) === 'EPIPE';
}

/** The colors that `report` and `info` use. Source: ECMA-48, 8.3.117, SGR: bold, normal; red, green, default. */
const COLORS = /(\x1b\[(?:1|22|31|32|39)m)/;

/**
 * Writes text to a terminal, and escapes everything that the terminal would act on: names in a recording must not move
 * its cursor, change its title or reverse the direction of the text after them. Each chunk must end at a character
 * boundary, as those of the writers do.
 */
class TerminalSink implements ByteSink {
  readonly #target: ByteSink;
  readonly #isColored: boolean;

  /** @param isColored whether the text contains colors of this program; the names in it are escaped already */
  constructor(target: ByteSink, isColored: boolean) {
    this.#target = target;
    this.#isColored = isColored;
  }

  write(chunk: Uint8Array): Promise<void> {
    const text = decodeText(chunk);
    // Every other piece is a color.
    const pieces = this.#isColored ? text.split(COLORS) : [text];
    return this.#target.write(new TextEncoder().encode(pieces.map((piece, i) => (i % 2 === 0 ? printableLines(piece) : piece)).join('')));
  }
}
