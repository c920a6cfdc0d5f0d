import type { ByteSink } from '../base/byte-sink.ts';
import { PerfconvError } from '../base/errors.ts';
import { printableLines } from '../base/printable.ts';
import { decodeText } from '../base/text.ts';
import { systemCode } from '../host/io-error.ts';
import { openStandardOutput } from '../host/standard-output.ts';
import type { Terminal } from './terminal.ts';

/** What messages call standard output. */
const STANDARD_OUTPUT = 'standard output';

/**
 * Where a command writes its result. It is opened before the work, so that a standard output that is closed is reported at once. Bytes go out
 * as they are, but for a terminal: see {@link TerminalSink}.
 * @param isColoured whether the text may have colours of ours
 * @throws PerfconvError `io`
 */
export function standardOutput({ stdout }: Pick<Terminal, 'stdout'>, isColoured = false): ByteSink {
  const sink = openStandardOutput(stdout, STANDARD_OUTPUT);
  return stdout.isTTY ? new TerminalSink(sink, isColoured) : sink;
}

/** Whether the reader of our standard output has gone (`| head`), which is not a failure. */
export function isReaderGone(error: unknown): boolean {
  return error instanceof PerfconvError && error.file === STANDARD_OUTPUT && systemCode(error) === 'EPIPE';
}

/** The colours that `report` and `info` use. Source: ECMA-48, 8.3.117, SGR: bold, normal; red, green, default. */
const COLOURS = /(\x1b\[(?:1|22|31|32|39)m)/;

/**
 * Writes text to a terminal with all escaped that it would act on: names of a recording must not move its cursor, change its title or turn the
 * direction of what follows. Each chunk has whole characters, as writers hand them over.
 */
class TerminalSink implements ByteSink {
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
