import { callback, demand, type OptionChecks, text } from '../base/problems/check-options.ts';
import type { OptionWords } from '../base/problems/option-words.ts';
import { abortSignal, type CallOptions } from '../base/streams/cancellation.ts';

/** What else is known about an input. */
export interface OpenOptions extends CallOptions {
  /** What to call a recording that has no path. Default: a File's own name, else `perf.data`. */
  readonly name?: string;
  /** When it was last written, nanoseconds since 1970: for `info`. Default: a File's own time. */
  readonly modifiedNs?: bigint;
  /** How findings and errors name an option, for programs whose users do not see the library's. Default: `{ symfs: 'DIR' }`, `option offCpu`. */
  readonly optionWords?: OptionWords;
}

/** Checks of the options of `openRecording()`. */
export const OPEN_CHECKS: OptionChecks<OpenOptions> = {
  name: text(),
  modifiedNs: (option, value) => demand(typeof value === 'bigint', option, value, 'a bigint of nanoseconds'),
  optionWords: callback,
  signal: abortSignal,
};
