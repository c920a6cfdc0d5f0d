import { listOf } from '../base/list-of.ts';
import {
  arrayOf,
  type Check,
  callback,
  checkOptions,
  count,
  demand,
  flag,
  noneOrArrayOf,
  type OptionChecks,
  oneOf,
  text,
  texts,
  wholeNumbers,
} from '../base/problems/check-options.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import { LIBRARY_OPTIONS } from '../base/problems/option-words.ts';
import type { OnProgress } from '../base/streams/byte-source.ts';
import { abortSignal, type CallOptions } from '../base/streams/cancellation.ts';
import { withoutUndefined } from '../base/without-undefined.ts';
import type { DemangleStyle } from '../demangle/demangle.ts';
import {
  CHROME_STYLES,
  checkFieldRequest,
  DEMANGLE_STYLES,
  FOLDED_MARKS,
  type FoldedMark,
  GROUPS,
  PPROF_LABELS,
  type PprofLabel,
  SCRIPT_EVENT_TYPES,
  SCRIPT_FIELDS,
  SCRIPT_TIMES,
  type ScriptFieldRequest,
  TRUNCATED_STACKS,
  UNKNOWN_CODE,
  WEIGHTS,
} from '../pipeline/choices.ts';
import { FORMATS, type Format } from '../pipeline/formats.ts';
import type { ReadProfileOptions } from '../pipeline/read-profile.ts';
import type { WriteOptions as FormatOptions } from '../pipeline/write-profile.ts';
import type { SampleFilter } from '../session/filter/filter.ts';
import { parseTimeRanges } from '../session/filter/time-ranges.ts';
import { DEFAULT_DEBUG_DIRS, type SymbolizerOptions } from '../symbolizer/inputs/symbolizer-options.ts';

/** Which samples a profile has, like the command line's options of the same names. Without any, all samples. */
export interface SampleOptions {
  /** Names of events as perf prints them. Modifiers may be left out: `cycles` means `cycles:P`, unless there is an event `cycles`. */
  readonly event?: string | readonly string[];
  /** Processes and threads; −1 for samples without one. */
  readonly pid?: number | readonly number[];
  readonly tid?: number | readonly number[];
  /** Names of threads when the sample was taken. */
  readonly comm?: string | readonly string[];
  /** −1 for samples that carry no CPU. */
  readonly cpu?: number | readonly number[];
  /** Like `--time`: `12.5,13`, `+1,+2.5`, `10%-20%`, `10%/2`. */
  readonly time?: string;
}

/** Where symbols of a profile are looked for, in addition to the usual places. */
export interface SymbolOptions {
  /** Directory under which the recording machine's files have their own paths. */
  readonly symfs?: string;
  /** Directories of separate debug files, in addition to `/usr/lib/debug`. */
  readonly debugDir?: string | readonly string[];
  /** perf's build-id cache. Default: `~/.debug`. */
  readonly buildidDir?: string;
  /**
   * The recording machine's `/proc/kallsyms`. Of several, the one that is most likely of the recorded kernel is used. Default: this machine's, if the kernel is
   * the same.
   */
  readonly kallsyms?: string | readonly string[];
  /** The recorded kernel's vmlinux. Of several, the one with its build id is used. Default: the one with its build id in the usual places. */
  readonly vmlinux?: string | readonly string[];
  /** The same for virtual machines (`perf kvm`), and their `/proc/modules`. */
  readonly guestkallsyms?: string;
  readonly guestmodules?: string;
  readonly guestvmlinux?: string;
  /** Directory of `perf-PID.map` and `jit-PID.dump` files of JITs. */
  readonly perfMapDir?: string;
}

/** How functions are named and stacks are read. */
export interface NameOptions {
  /** Whether inlined functions are shown. Default: yes; no with `compat: 'perf'`. */
  readonly inlines?: boolean;
  /** Whether files and lines are read from debug information; without them there are no inlined functions either. Default: yes. */
  readonly lines?: boolean;
  /**
   * How C++, Rust, Java and OCaml names are shown; `none`: mangled. Default: `full`; `simple` in pprof and OTLP; `no-params` in `script`, folded and with
   * `compat: 'perf'`.
   */
  readonly demangle?: DemangleStyle | 'none';
  /** Frames per stack at most, from the leaf. Default: all; 127 with `compat: 'perf'`. */
  readonly maxStack?: number;
  /**
   * What to do with stacks that were unwound (`--call-graph dwarf`) and do not reach the start of their thread: `mark` gives them the root `[truncated]`,
   * `keep` leaves them as they are, `drop` leaves their samples out. Default: `mark`; `keep` with `compat: 'perf'`.
   */
  readonly truncated?: (typeof TRUNCATED_STACKS)[number];
  /**
   * Whether to show the times that threads were off the CPU, which follow from switches, as events of their own: `off-cpu:sleeping`, `off-cpu:blocked`,
   * `off-cpu:preempted`, `off-cpu:waiting`. Default: no.
   */
  readonly offCpu?: boolean;
  /** `perf`: match perf 6.1, to compare the two. */
  readonly compat?: 'perf';
}

/** How a recording becomes a profile. Names and defaults are those of the command line's options. */
export interface ReadingOptions extends SampleOptions, SymbolOptions, NameOptions, CallOptions {
  /**
   * The formats that the profile will be written in. The profile then keeps what they need; for a format that is not named and needs more, the recording is
   * read again. Default: `pprof`.
   */
  readonly formats?: readonly Format[];
  /** Called now and then with the number of bytes read. */
  readonly onProgress?: OnProgress;
}

/** How a format is written. Names and defaults are those of the command line's options. */
export interface WriteOptions
  extends Omit<FormatOptions, 'exporter' | 'demangle' | 'scriptName' | 'scriptText' | 'scriptLikePerf' | 'labels' | 'marks' | 'fields'>,
    CallOptions {
  /**
   * pprof, OTLP: what samples are labeled with. Default: pid, tid, comm and, for merged recordings, input; pprof leaves out those in which samples do not
   * differ.
   */
  readonly labels?: readonly PprofLabel[] | 'none';
  /** folded: which frames are marked: kernel (`_[k]`), inlined (`_[i]`), JIT-compiled (`_[j]`). Default: those of the kernel. */
  readonly marks?: readonly FoldedMark[] | 'none';
  /**
   * script: the fields to print, or changes to the default, for events of all types; or requests, of which each changes what those before it have left. Default:
   * perf's choice.
   */
  readonly fields?: ScriptFieldRequest['fields'] | readonly ScriptFieldRequest[];
  /** Whether the result is compressed. Default: like the command line: what a file's name says; pprof also if it says nothing. */
  readonly gzip?: boolean;
}

const SYMBOL_CHECKS: OptionChecks<SymbolOptions> = {
  symfs: text(),
  debugDir: texts,
  buildidDir: text(),
  kallsyms: texts,
  vmlinux: texts,
  guestkallsyms: text(),
  guestmodules: text(),
  guestvmlinux: text(),
  perfMapDir: text(),
};

/** Checks of the options of a recording's `profile()`. */
export const READING_CHECKS: OptionChecks<ReadingOptions> = {
  event: texts,
  pid: wholeNumbers,
  tid: wholeNumbers,
  comm: texts,
  cpu: wholeNumbers,
  time: text('12.5,13'),
  ...SYMBOL_CHECKS,
  inlines: flag,
  lines: flag,
  demangle: oneOf([...DEMANGLE_STYLES, 'none']),
  maxStack: count,
  truncated: oneOf(TRUNCATED_STACKS),
  offCpu: flag,
  compat: oneOf(['perf']),
  formats: arrayOf(FORMATS),
  onProgress: callback,
  signal: abortSignal,
};

const fieldChoices = arrayOf(
  SCRIPT_FIELDS.flatMap((field) => [field, `+${field}`, `-${field}`]),
  SCRIPT_FIELDS,
);

/** Fields of perf-script text: choices, or requests that say which type of events they concern. */
const scriptFields: Check = (option, value) => {
  const isRequests = Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null);
  const requests: readonly ScriptFieldRequest[] = isRequests ? value : [{ fields: value as ScriptFieldRequest['fields'] }];
  for (const request of requests) {
    demand(request.fields !== undefined, option, request.fields, 'fields in each request');
    checkOptions(request, { type: oneOf(SCRIPT_EVENT_TYPES), fields: fieldChoices });
    checkFieldRequest(request, LIBRARY_OPTIONS);
  }
};

/** The requests that fields stand for; none for perf's choice. */
function fieldRequests(fields: NonNullable<WriteOptions['fields']>): readonly ScriptFieldRequest[] {
  const isRequests = (given: typeof fields): given is readonly ScriptFieldRequest[] => given.every((one) => typeof one !== 'string');
  return isRequests(fields) ? fields : [{ fields }];
}

/** Checks of the options of functions that write a format. */
export const WRITE_CHECKS: OptionChecks<WriteOptions> = {
  weight: oneOf(WEIGHTS),
  byInput: flag,
  unknown: oneOf(UNKNOWN_CODE),
  marks: noneOrArrayOf(FOLDED_MARKS),
  labels: noneOrArrayOf(PPROF_LABELS),
  group: oneOf(GROUPS),
  chromeStyle: oneOf(CHROME_STYLES),
  csvSafe: flag,
  fields: scriptFields,
  ns: flag,
  times: oneOf(SCRIPT_TIMES),
  wallClock: flag,
  gzip: flag,
  signal: abortSignal,
};

/** How to write a format, for the pipeline. */
export function formatOptions({ labels, marks, fields, ...others }: Omit<WriteOptions, 'gzip' | 'signal'>): FormatOptions {
  return withoutUndefined({
    ...others,
    labels: labels === 'none' ? [] : labels,
    marks: marks === 'none' ? [] : marks,
    fields: fields && fieldRequests(fields),
  });
}

/** Which samples to read, for the pipeline. @param timeOption what messages call `time` @throws PerfconvError `usage` */
export function sampleFilter({ event, pid, tid, comm, cpu, time }: SampleOptions, timeOption: string): SampleFilter {
  return withoutUndefined({
    events: event === undefined ? undefined : listOf(event),
    pids: pid === undefined ? undefined : listOf(pid),
    tids: tid === undefined ? undefined : listOf(tid),
    comms: comm === undefined ? undefined : listOf(comm),
    cpus: cpu === undefined ? undefined : listOf(cpu),
    times: time === undefined ? undefined : parseTimeRanges(time, timeOption),
  });
}

/** What the options say about naming, for the pipeline, which decides what they leave open. */
export type NamingChoices = Pick<ReadProfileOptions, 'debugInfo' | 'demangle' | 'maxStack' | 'truncated' | 'offCpu'> & { readonly compatPerf: boolean };

/** @throws PerfconvError `usage` */
export function namingChoices({ inlines, lines, demangle, maxStack, truncated, offCpu, compat }: NameOptions): NamingChoices {
  if (inlines === true && lines === false) throw new PerfconvError('usage', 'inlines cannot be combined with lines: false');
  const debugInfo = lines === false ? 'none' : inlines === undefined ? undefined : inlines ? 'inlines' : 'lines';
  return withoutUndefined({ compatPerf: compat === 'perf', debugInfo, demangle, maxStack, truncated, offCpu });
}

/** The first option that names symbol files; undefined if none does. */
export function firstSymbolOption(options: SymbolOptions): keyof SymbolOptions | undefined {
  return (Object.keys(SYMBOL_CHECKS) as (keyof SymbolOptions)[]).find((name) => options[name] !== undefined);
}

/** Where the symbolizer looks, and how it chooses among names. */
export function symbolizerOptions(options: SymbolOptions & NameOptions): SymbolizerOptions {
  const { symfs, debugDir = [], buildidDir, kallsyms, vmlinux, perfMapDir, guestkallsyms, guestmodules, guestvmlinux } = options;
  return withoutUndefined({
    debugDirs: [...listOf(debugDir), ...DEFAULT_DEBUG_DIRS],
    compatPerf: options.compat === 'perf',
    linkageAliases: options.demangle === 'none',
    guest: withoutUndefined({ kallsyms: guestkallsyms, modules: guestmodules, vmlinux: guestvmlinux }),
    symfs,
    buildIdDir: buildidDir,
    kallsyms,
    vmlinux,
    perfMapDir,
  });
}
