import type { Diagnostics } from '../base/diagnostics.ts';
import type { CodeSymbols } from '../symbol-table/code-symbols.ts';
import type { CodeObject, CodeQuestion } from './code-object.ts';
import { RecordingSymbols } from './recording-symbols.ts';
import type { SymbolFiles } from './symbol-files.ts';
import type { RecordingContext, SymbolizerOptions } from './symbolizer-options.ts';

export type { CodeObject, CodeQuestion } from './code-object.ts';
export type { SymbolFiles } from './symbol-files.ts';
export { DEFAULT_DEBUG_DIRS, type RecordingContext, type SymbolizerOptions } from './symbolizer-options.ts';

/**
 * Finds the symbols of code, of any number of recordings one after the other, or of none. What does
 * not fit or is damaged is reported, as warnings, and never thrown: `build-id-mismatch`, `build-id-shared`, `file-changed`, `debug-link-mismatch`, `symbol-file-damaged`,
 * `debug-info-damaged`, `debug-info-incomplete`, `debug-info-unread`, `debuginfod-failed`, `kallsyms-hidden`, `kallsyms-mismatch`,
 * `jit-file-refused`, `perf-map-excess`; and `jit-file-owner`, a note. What cannot be found is told by a `SymbolSearch`.
 */
export class Symbolizer {
  readonly #files: SymbolFiles;
  readonly #options: SymbolizerOptions;
  readonly #diagnostics: Diagnostics;
  #withoutRecording: RecordingSymbols | undefined;

  constructor(files: SymbolFiles, options: SymbolizerOptions, diagnostics: Diagnostics) {
    this.#files = files;
    this.#options = options;
    this.#diagnostics = diagnostics;
  }

  /** The symbols of one recording, which know nothing of any other: its kernel may be another one, and its processes' numbers other processes'. */
  forRecording(recording: RecordingContext): RecordingSymbols {
    return new RecordingSymbols(this.#files, this.#options, recording, this.#diagnostics);
  }

  /** The symbols of one DSO of no recording in particular: see {@link RecordingSymbols.symbolsFor}. Modules are those of the kernel that was asked for last. */
  symbolsFor(object: CodeObject, question?: CodeQuestion): Promise<CodeSymbols | undefined> {
    this.#withoutRecording ??= this.forRecording({});
    return this.#withoutRecording.symbolsFor(object, question);
  }
}
