import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import type { OpenInput } from '../../base/streams/recording-input.ts';
import { withoutUndefined } from '../../base/without-undefined.ts';
import { pprofBinaryDirs } from '../../host/symbols/pprof-dirs.ts';
import { SharedSymbols, type SymbolPlaces, symbolSources } from '../../host/symbols/symbol-sources.ts';
import { availableMemory } from '../../host/system/available-memory.ts';
import { OpenedFiles } from '../../host/system/opened-files.ts';
import { type NameOptions, type NamingChoices, namingChoices, type SampleOptions, sampleFilter, symbolizerOptions } from '../../library/options.ts';
import { DEMANGLE_STYLES, TRUNCATED_STACKS } from '../../pipeline/choices.ts';
import type { SampleFilter } from '../../pipeline/convert.ts';
import type { ReadProfileOptions } from '../../pipeline/read-profile.ts';
import type { Arguments } from '../command-line/arguments.ts';
import type { Terminal } from '../printing/terminal.ts';
import { symbolOptions } from './symbol-paths.ts';
import { planDebuginfod } from './symbol-servers.ts';

/** How inputs are read, as the options say. Checked before any input is opened. */
export interface ReadingPlan {
  readonly filter: SampleFilter;
  readonly naming: NamingChoices;
  readonly symbols: SymbolPlaces;
  /** The symbol files that have been opened. */
  readonly openedFiles: OpenedFiles;
}

/**
 * @param defaults what a command does where the options say nothing else
 * @throws PerfconvError `usage`
 */
export function planReading(args: Arguments, terminal: Terminal, defaults: NameOptions = {}): ReadingPlan {
  const naming = { ...defaults, ...nameOptions(args) };
  const symbols = { ...symbolizerOptions({ ...symbolOptions(args), ...naming }), binaryDirs: pprofBinaryDirs(terminal.env) };
  const debuginfod = planDebuginfod(args, terminal);
  const openedFiles = new OpenedFiles();
  return {
    filter: sampleFilter(sampleOptions(args), '--time'),
    naming: namingChoices(naming),
    symbols: { ...symbols, openedFiles, ...(debuginfod && { debuginfod }), ...(args.inputs.length > 1 && { shared: new SharedSymbols() }) },
    openedFiles,
  };
}

function sampleOptions(args: Arguments): SampleOptions {
  return withoutUndefined({
    event: args.list('event', splitEvents),
    pid: args.ids('pid'),
    tid: args.ids('tid'),
    comm: args.list('comm'),
    cpu: args.ranges('cpu'),
    time: args.text('time'),
  });
}

function nameOptions(args: Arguments): NameOptions {
  return withoutUndefined({
    inlines: args.flag('no-inline') ? false : undefined,
    demangle: readDemangle(args),
    maxStack: args.count('max-stack'),
    truncated: args.choice('truncated', TRUNCATED_STACKS),
    offCpu: args.flag('off-cpu') ? true : undefined,
    compat: args.choice('compat', ['perf']),
  });
}

function readDemangle(args: Arguments): NameOptions['demangle'] {
  const style = args.choice('demangle-style', DEMANGLE_STYLES);
  if (!args.flag('no-demangle')) return style;
  if (style !== undefined) throw new PerfconvError('usage', '--no-demangle cannot be combined with --demangle-style');
  return 'none';
}

/**
 * Splits a comma-separated list of event names. A comma between slashes belongs to the name:
 * `cycles,cpu/event=0x3c,umask=0/u`.
 */
export function splitEvents(text: string): string[] {
  return text.match(/(?:[^,/]|\/[^/]*\/?)+|(?<=^|,)(?=,|$)/g) ?? [''];
}

/** The pipeline's options for reading each of the inputs. */
export function optionsByPlan({ filter, naming, symbols }: ReadingPlan): (input: OpenInput, diagnostics: Diagnostics) => ReadProfileOptions {
  return (input, diagnostics) => {
    const { modifiedNs, kcoreDir } = input;
    return { availableMemory: availableMemory(), ...symbolSources(input, diagnostics, symbols), ...naming, filter, modifiedNs, kcoreDir };
  };
}
