import { printable } from '../text/printable.ts';

/**
 * Why a recording, a symbol file or an output could not be read or written.
 *
 * - `not-perf-data`: the input is something else (empty, text, ELF, perf stat data …)
 * - `unsupported`: this version does not read or write what it was asked to, or the JavaScript engine lacks what that needs
 * - `damaged`: a structure on which everything else depends (header, attr) is broken
 * - `io`: the operating system refused (missing file, permission, disk full)
 * - `no-samples`: the recording holds no samples, or the filters leave none
 * - `limit`: there is not enough memory
 * - `usage`: options that are wrong or contradict each other, or a call at the wrong time
 */
export type PerfconvErrorCode = 'not-perf-data' | 'unsupported' | 'damaged' | 'io' | 'no-samples' | 'limit' | 'usage';

/** Where in the input an error was found. */
export interface ErrorPlace {
  /** Byte offset in the input; absent if the error belongs to no byte. */
  readonly offset?: number;
  /** What was being read, in the spec's words: `PERF_RECORD_SAMPLE`, `perf_event_attr[2]`. */
  readonly record?: string;
  /** The file, if it is not the recording itself. */
  readonly file?: string;
}

/**
 * The only error that perfconv throws on bad input, or if output is refused.
 * Its message reads `PERF_RECORD_SAMPLE at 0x1f30: callchain of 4096 entries overruns record of 120 bytes`.
 */
export class PerfconvError extends Error {
  override readonly name = 'PerfconvError';
  readonly code: PerfconvErrorCode;
  readonly offset: number | undefined;
  readonly record: string | undefined;
  readonly file: string | undefined;

  /** @param what is wrong there: the message after the place */
  constructor(code: PerfconvErrorCode, what: string, place: ErrorPlace = {}, options?: ErrorOptions) {
    super(printable(placeText(place) + what), options);
    this.code = code;
    this.offset = place.offset;
    this.record = place.record;
    this.file = place.file;
  }
}

function placeText(place: ErrorPlace): string {
  const at = place.offset === undefined ? undefined : `at 0x${place.offset.toString(16)}`;
  const spot = [place.record, at].filter((part) => part !== undefined).join(' ');
  return [place.file, spot].map((part) => (part ? `${part}: ` : '')).join('');
}

/** An error's message without the name of the file it is about, where the reader knows that already. */
export function messageWithout(file: string, { message }: Error): string {
  return message.startsWith(file) ? message.slice(file.length).replace(/^[: ]+/, '') : message;
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
