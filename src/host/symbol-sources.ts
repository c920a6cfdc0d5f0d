import type { Diagnostics } from '../base/diagnostics.ts';
import type { RecordingContext } from '../base/recording-input.ts';
import type { OpenJitDump } from '../jitdump/jitdump.ts';
import { LastList } from '../symbolizer/kernel/last-list.ts';
import { DEFAULT_DEBUG_DIRS, Symbolizer, type SymbolizerOptions } from '../symbolizer/symbolizer.ts';
import type { DebuginfodClient } from './debuginfod.ts';
import { jitDumpsOf } from './jit-dumps.ts';
import { KeptSections } from './kept-sections.ts';
import type { OpenedFiles } from './opened-files.ts';
import { pprofBinaryDirs } from './pprof-dirs.ts';
import { NodeSymbolFiles } from './symbol-files.ts';

/** What the options of the command line of the same names say; without any, it is as `perfconv FILE`. */
export interface SymbolPlaces extends Partial<SymbolizerOptions> {
  /** Servers to be asked for what is not on this machine; nobody is without it. */
  readonly debuginfod?: DebuginfodClient;
  /** Gets the files that are opened. */
  readonly openedFiles?: OpenedFiles;
  /** What recordings that are read one after the other have in common; absent where there is only one. */
  readonly shared?: SharedSymbols;
}

/** What is kept of one recording's symbols for the next one, for as long as the program runs. */
export class SharedSymbols {
  readonly lastList = new LastList();
  readonly keptSections = new KeptSections();
}

/** What names the code of a recording. */
export interface SymbolSources {
  readonly symbolizer: Symbolizer;
  readonly openJitDump: OpenJitDump;
}

/**
 * The names with which the command line and the library read an input: from wherever this machine has them, those that
 * were recorded with the input, and those that JITs left.
 * @param diagnostics gets what is found wrong with symbol files
 */
export function symbolSources({ modifiedNs }: RecordingContext, diagnostics: Diagnostics, places: SymbolPlaces = {}): SymbolSources {
  const { debuginfod, openedFiles, shared, ...named } = places;
  const options = { debugDirs: DEFAULT_DEBUG_DIRS, binaryDirs: pprofBinaryDirs(process.env), compatPerf: false, ...named };
  return {
    symbolizer: new Symbolizer(new NodeSymbolFiles(debuginfod, openedFiles, shared?.keptSections), options, diagnostics).sharing(shared?.lastList),
    openJitDump: jitDumpsOf(options, { modifiedNs }, diagnostics, openedFiles),
  };
}
