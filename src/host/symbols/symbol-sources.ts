import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import type { Cancellation } from '../../base/streams/cancellation.ts';
import type { RecordingContext } from '../../base/streams/recording-input.ts';
import type { OpenJitDump } from '../../jitdump/jitdump.ts';
import { cancellableFiles } from '../../symbolizer/inputs/cancellable-files.ts';
import type { SymbolFiles } from '../../symbolizer/inputs/symbol-files.ts';
import { LastList } from '../../symbolizer/kernel/last-list.ts';
import { DEFAULT_DEBUG_DIRS, Symbolizer, type SymbolizerOptions } from '../../symbolizer/symbolizer.ts';
import type { OpenedFiles } from '../system/opened-files.ts';
import type { DebuginfodClient } from './debuginfod.ts';
import { jitDumpsOf } from './jit-dumps.ts';
import { pprofBinaryDirs } from './pprof-dirs.ts';
import { SectionCache } from './section-cache.ts';
import { NodeSymbolFiles } from './symbol-files.ts';

/** The command line's options of the same names; without any, symbols are found as for `perfconv FILE`. */
export interface SymbolPlaces extends Partial<SymbolizerOptions> {
  /** Servers to query for what is not on this machine; without it, nothing is fetched. */
  readonly debuginfod?: DebuginfodClient;
  /** Opens symbol files in place of {@link NodeSymbolFiles}. jitdump files are still those on this machine, unless it has some. */
  readonly files?: SymbolFiles;
  /** Gives up opening, reading and fetching symbol files. */
  readonly cancellation?: Cancellation;
  /** Gets the files that are opened. */
  readonly openedFiles?: OpenedFiles;
  /** What recordings that are read one after the other share; absent if there is only one. */
  readonly shared?: SharedSymbols;
}

/** What is kept of one recording's symbols for the next recordings, until the program ends. */
export class SharedSymbols {
  readonly lastList = new LastList();
  readonly sectionCache = new SectionCache();
}

/** What names the code of a recording. */
export interface SymbolSources {
  readonly symbolizer: Symbolizer;
  readonly openJitDump: OpenJitDump;
}

/**
 * The sources of symbols with which the command line and the library read an input: those on this machine, those recorded with the input, and those that JITs
 * left.
 * @param diagnostics gets what is wrong with symbol files
 */
export function symbolSources({ modifiedNs }: RecordingContext, diagnostics: Diagnostics, places: SymbolPlaces = {}): SymbolSources {
  const { debuginfod, openedFiles, shared, cancellation, files: own, ...named } = places;
  const options = { debugDirs: DEFAULT_DEBUG_DIRS, binaryDirs: pprofBinaryDirs(process.env), compatPerf: false, ...named };
  const files: SymbolFiles = own ?? new NodeSymbolFiles(debuginfod, openedFiles, shared?.sectionCache);
  return {
    symbolizer: new Symbolizer(cancellation === undefined ? files : cancellableFiles(files, cancellation), options, diagnostics).sharing(shared?.lastList),
    openJitDump: files.openJitDump?.bind(files) ?? jitDumpsOf(options, { modifiedNs }, diagnostics, openedFiles),
  };
}
