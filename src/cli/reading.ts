import type { Diagnostics } from '../base/diagnostics.ts';
import { PerfconvError } from '../base/errors.ts';
import type { OpenInput } from '../host/open-input.ts';
import { OpenedFiles } from '../host/opened-files.ts';
import { pprofBinaryDirs } from '../host/pprof-dirs.ts';
import { readingOptions, type SymbolPlaces } from '../host/reading-options.ts';
import { DEMANGLE_STYLES } from '../pipeline/choices.ts';
import { DEFAULT_DEBUG_DIRS, parseTimeRanges, type SampleFilter, type SymbolizerOptions } from '../pipeline/convert.ts';
import type { ReadProfileOptions } from '../pipeline/read-profile.ts';
import type { Arguments } from './arguments.ts';
import { planDebuginfod } from './symbol-servers.ts';
import type { Terminal } from './terminal.ts';

/** How mangled names are shown; `none`: unchanged. */
type DemangleChoice = NonNullable<ReadProfileOptions['demangle']>;

/** How inputs are read, as the options say. Checked before any input is opened. */
export interface ReadingPlan {
  readonly filter: SampleFilter;
  readonly symbols: SymbolPlaces & { readonly compatPerf: boolean };
  /** The symbol files that have been opened. */
  readonly openedFiles: OpenedFiles;
  /** What is read from debug information; undefined: the library's default. */
  readonly debugInfo: ReadProfileOptions['debugInfo'];
  /** undefined: the default of each format. */
  readonly demangle: DemangleChoice | undefined;
  readonly maxStack: number | undefined;
}

/**
 * @param naming what a command reads from debug information whatever the options say, and how it shows names by default
 * @throws PerfconvError `usage`
 */
export function planReading(args: Arguments, terminal: Terminal, naming: Pick<ReadProfileOptions, 'debugInfo' | 'demangle'> = {}): ReadingPlan {
  const compatPerf = args.choice('compat', ['perf']) !== undefined;
  const symfs = args.text('symfs');
  const buildIdDir = args.text('buildid-dir');
  const kallsyms = args.text('kallsyms');
  const vmlinux = args.text('vmlinux');
  const perfMapDir = args.text('perf-map-dir');
  const debuginfod = planDebuginfod(args, terminal);
  const openedFiles = new OpenedFiles();
  return {
    filter: readFilter(args),
    symbols: {
      debugDirs: [...args.texts('debug-dir'), ...DEFAULT_DEBUG_DIRS],
      binaryDirs: pprofBinaryDirs(terminal.env),
      compatPerf,
      linkageAliases: args.flag('no-demangle'),
      ...(symfs !== undefined && { symfs }),
      ...(buildIdDir !== undefined && { buildIdDir }),
      ...(kallsyms !== undefined && { kallsyms }),
      ...(vmlinux !== undefined && { vmlinux }),
      ...(perfMapDir !== undefined && { perfMapDir }),
      guest: readGuest(args),
      ...(debuginfod !== undefined && { debuginfod }),
      openedFiles,
    },
    openedFiles,
    debugInfo: naming.debugInfo ?? (args.flag('no-inline') ? 'lines' : undefined),
    demangle: readDemangle(args) ?? naming.demangle,
    maxStack: args.count('max-stack'),
  };
}

function readGuest(args: Arguments): NonNullable<SymbolizerOptions['guest']> {
  const kallsyms = args.text('guestkallsyms');
  const modules = args.text('guestmodules');
  const vmlinux = args.text('guestvmlinux');
  return { ...(kallsyms !== undefined && { kallsyms }), ...(modules !== undefined && { modules }), ...(vmlinux !== undefined && { vmlinux }) };
}

function readDemangle(args: Arguments): DemangleChoice | undefined {
  const style = args.choice('demangle-style', DEMANGLE_STYLES);
  if (!args.flag('no-demangle')) return style;
  if (style !== undefined) throw new PerfconvError('usage', '--no-demangle cannot be combined with --demangle-style');
  return 'none';
}

function readFilter(args: Arguments): SampleFilter {
  const events = args.list('event', splitEvents);
  const pids = args.ids('pid');
  const tids = args.ids('tid');
  const comms = args.list('comm');
  const cpus = args.ranges('cpu');
  const time = args.text('time');
  return {
    ...(events && { events }),
    ...(pids && { pids }),
    ...(tids && { tids }),
    ...(comms && { comms }),
    ...(cpus && { cpus }),
    ...(time !== undefined && { times: parseTimeRanges(time) }),
  };
}

/**
 * Splits a comma-separated list of event names. A comma between slashes belongs to the name:
 * `cycles,cpu/event=0x3c,umask=0/u`.
 */
export function splitEvents(text: string): string[] {
  return text.match(/(?:[^,/]|\/[^/]*\/?)+|(?<=^|,)(?=,|$)/g) ?? [''];
}

/** The library's options for reading one input. */
export function readOptions(plan: ReadingPlan, input: OpenInput, diagnostics: Diagnostics): ReadProfileOptions {
  return {
    ...readingOptions(input, diagnostics, plan.symbols),
    filter: plan.filter,
    ...(plan.debugInfo && { debugInfo: plan.debugInfo }),
    ...(plan.demangle && { demangle: plan.demangle }),
    ...(plan.maxStack !== undefined && { maxStack: plan.maxStack }),
  };
}
