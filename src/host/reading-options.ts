import type { Diagnostics } from '../base/diagnostics.ts';
import type { OpenJitDump } from '../jitdump/jitdump.ts';
import { DEFAULT_DEBUG_DIRS, type RecordingContext, Symbolizer, type SymbolizerOptions } from '../symbolizer/symbolizer.ts';
import type { DebuginfodClient } from './debuginfod.ts';
import type { OpenInput } from './input.ts';
import { jitDumpsOf } from './jit-dumps.ts';
import { type MachineOptions, machineOptions } from './machine-options.ts';
import type { OpenedFiles } from './opened-files.ts';
import { pprofBinaryDirs } from './pprof-dirs.ts';
import { NodeSymbolFiles } from './symbol-files.ts';

/** What the options of the command line of the same names say; without any, it is as `perfconv FILE`. */
export interface SymbolPlaces extends Partial<SymbolizerOptions> {
  /** Servers to be asked for what is not on this machine; nobody is without it. */
  readonly debuginfod?: DebuginfodClient;
  /** Gets the files that are opened. */
  readonly openedFiles?: OpenedFiles;
}

/** What reading a recording uses of this machine and of the input, besides the bytes. */
export interface NodeReadingOptions extends RecordingContext, MachineOptions {
  readonly symbolizer: Symbolizer;
  readonly openJitDump: OpenJitDump;
  readonly compatPerf: boolean;
}

/**
 * The options with which the command line and the library read an input: names from wherever this machine has them, those that were
 * recorded with the input, and those that JITs left.
 * @param diagnostics gets what is found wrong with symbol files
 */
export function readingOptions({ modifiedNs, kcoreDir }: OpenInput, diagnostics: Diagnostics, places: SymbolPlaces = {}): NodeReadingOptions {
  const { debuginfod, openedFiles, ...named } = places;
  const { compatPerf = false } = named;
  const options = { debugDirs: DEFAULT_DEBUG_DIRS, binaryDirs: pprofBinaryDirs(process.env), ...named, compatPerf };
  return {
    modifiedNs,
    kcoreDir,
    symbolizer: new Symbolizer(new NodeSymbolFiles(debuginfod, openedFiles), options, diagnostics),
    openJitDump: jitDumpsOf(options, { modifiedNs }, diagnostics, openedFiles),
    ...machineOptions(),
    compatPerf,
  };
}
