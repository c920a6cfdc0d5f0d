import type { Diagnostics } from '../base/problems/diagnostics.ts';
import type { RecordingContext } from '../base/streams/recording-input.ts';
import type { CodeSymbols } from '../symbol-table/code-symbols.ts';
import type { CodeObject, CodeQuestion } from './inputs/code-object.ts';
import type { SymbolFiles } from './inputs/symbol-files.ts';
import type { SymbolizerOptions } from './inputs/symbolizer-options.ts';
import type { LastList } from './kernel/last-list.ts';
import { RecordingSymbols } from './recording-symbols.ts';

export type { CodeObject, CodeQuestion } from './inputs/code-object.ts';
export type { SymbolFiles } from './inputs/symbol-files.ts';
export { DEFAULT_DEBUG_DIRS, type SymbolizerOptions } from './inputs/symbolizer-options.ts';

/**
 * Finds the symbols of code, for any number of recordings, one after the other, or for none. Files that do not fit or are damaged are never thrown as errors
 * but reported as warnings: `build-id-mismatch`, `build-id-shared`, `file-changed`, `debug-link-mismatch`, `symbol-file-damaged`, `debug-info-damaged`,
 * `debug-info-incomplete`, `debug-info-unread`, `debuginfod-failed`, `kallsyms-hidden`, `kallsyms-mismatch`, `vmlinux-mismatch`, `guest-kernels-excess`,
 * `jit-file-refused`, `perf-map-excess`. Notes are `jit-file-owner`, and `kallsyms-chosen` and `vmlinux-chosen`: which of several files is used; these are
 * warnings if that is a guess. A `SymbolSearch` lists the places where nothing was found.
 */
export class Symbolizer {
  readonly #files: SymbolFiles;
  readonly #options: SymbolizerOptions;
  readonly #diagnostics: Diagnostics;
  #lastList: LastList | undefined;
  #withoutRecording: RecordingSymbols | undefined;

  constructor(files: SymbolFiles, options: SymbolizerOptions, diagnostics: Diagnostics) {
    this.#files = files;
    this.#options = options;
    this.#diagnostics = diagnostics;
  }

  /**
   * Keeps the kernel's symbol list for the next recording, also one of another symbolizer; without it, the list is read again for each recording.
   * @internal
   */
  sharing(lastList: LastList | undefined): this {
    this.#lastList = lastList;
    return this;
  }

  /** The symbols of one recording. Nothing is shared between recordings, since they may have different kernels, and different processes with the same pid. */
  forRecording(recording: RecordingContext): RecordingSymbols {
    return new RecordingSymbols(this.#files, this.#options, recording, this.#diagnostics, this.#lastList);
  }

  /**
   * The symbols of one DSO of no particular recording: see {@link RecordingSymbols.symbolsFor}. A module without a
   * kernel is of the kernel asked for last.
   */
  symbolsFor(object: CodeObject, question?: CodeQuestion): Promise<CodeSymbols | undefined> {
    this.#withoutRecording ??= this.forRecording({});
    return this.#withoutRecording.symbolsFor(object, question);
  }
}
