import {
  CHROME_STYLES,
  DEMANGLE_STYLES,
  DIFF_KEYS,
  FOLDED_MARKS,
  GROUPS,
  PPROF_LABELS,
  RECORD_TYPES,
  REPORT_KEYS,
  SCRIPT_EVENT_TYPES,
  SCRIPT_FIELDS,
  TRUNCATED_STACKS,
  UNKNOWN_CODE,
  WEIGHTS,
} from '../../pipeline/choices.ts';
import { FORMATS } from '../../pipeline/formats.ts';

/** One option, as the parser, the help and shell completion see it. */
export interface OptionSpec {
  readonly name: string;
  readonly alias?: string;
  /** The name of its value in the help; absent for a flag. */
  readonly value?: string;
  /** The values to choose from; with `isList`, a comma-separated list of them. */
  readonly choices?: readonly string[];
  readonly isList?: boolean;
  /** Whether it may be given more than once. */
  readonly isRepeatable?: boolean;
  /** Its heading in the help. */
  readonly section: string;
  readonly text: string;
}

const OUTPUT = 'Output:';
const SAMPLES = 'Filters:';
const SYMBOLS = 'Symbols:';
const STACKS = 'Stacks and weights:';
const RUNNING = 'General:';

const BY_INPUT: OptionSpec = {
  name: 'by-input',
  section: OUTPUT,
  text: 'Keep merged inputs apart. folded, html: make the input the root frame; speedscope: write one profile per input even with --group all',
};

export const CONVERT_ONLY: readonly OptionSpec[] = [
  {
    name: 'format',
    alias: 't',
    value: 'FORMAT',
    choices: FORMATS,
    section: OUTPUT,
    text: `${FORMATS.join(', ')}. Default: chosen by the output's name (.pb.gz .pb .pprof, .speedscope.json, .trace.json, .cpuprofile, .csv or a directory, .txt, .folded, .firefox.json, .html, .parquet, .otlp; add .gz to compress), else pprof. With several outputs, applies to those whose name does not decide`,
  },
  {
    name: 'output',
    alias: 'o',
    value: 'OUTPUT',
    isRepeatable: true,
    section: OUTPUT,
    text: "Write to this file, directory (csv) or - for standard output. Repeat it to write several formats in one pass. With several inputs, merge them into one profile (pprof, speedscope, folded, csv, html, parquet, otlp). Default: the input's name with the format's extension; standard output when the input is -, /dev/stdin or <(…)",
  },
  {
    name: 'labels',
    value: 'LABELS',
    choices: [...PPROF_LABELS, 'none'],
    isList: true,
    section: OUTPUT,
    text: `pprof, otlp: label samples with any of ${PPROF_LABELS.join(', ')}, or none. Default: pid,tid,comm (and input, for merged inputs); pprof leaves out those in which samples do not differ`,
  },
  {
    name: 'marks',
    value: 'MARKS',
    choices: [...FOLDED_MARKS, 'none'],
    isList: true,
    section: OUTPUT,
    text: `folded: mark frames of any of ${FOLDED_MARKS.join(', ')} with _[k], _[i], _[j] for flamegraph.pl --color java, or none. Default: kernel`,
  },
  BY_INPUT,
  {
    name: 'group',
    value: 'GROUP',
    choices: GROUPS,
    section: OUTPUT,
    text: `speedscope: split into profiles by ${GROUPS.join(', ')} (all: no split). Default: thread. chrome: one track for each; default: thread up to 30 threads, else cpu, or all if samples carry no CPU`,
  },
  {
    name: 'chrome-style',
    value: 'STYLE',
    choices: CHROME_STYLES,
    section: OUTPUT,
    text: 'chrome: profile (sampled profiles, with file and line in DevTools) or events (a bar for each call, for Perfetto; five times larger). Default: profile',
  },
  {
    name: 'fields',
    alias: 'F',
    value: 'FIELDS',
    choices: SCRIPT_FIELDS,
    isList: true,
    section: OUTPUT,
    text: `script: print these fields: ${SCRIPT_FIELDS.join(', ')}. +FIELD adds to the default, -FIELD (written -F=-FIELD) removes from it. TYPE:FIELDS is only for events of that type: ${SCRIPT_EVENT_TYPES.join(', ')}; without fields, they are left out. Repeat the option for other types. Default: the fields of perf script`,
  },
  {
    name: 'csv-safe',
    section: OUTPUT,
    text: 'csv: put an apostrophe before text that a spreadsheet would run as a formula (it begins with =, +, - or @). Default: names as recorded (docs/untrusted-names.md)',
  },
  { name: 'ns', section: OUTPUT, text: 'script: print times with nine decimals' },
  { name: 'reltime', section: OUTPUT, text: 'script: print the time since the first sample that is printed, also with --wall-clock' },
  { name: 'deltatime', section: OUTPUT, text: 'script: print the time since the sample before, also with --wall-clock' },
  {
    name: 'wall-clock',
    section: OUTPUT,
    text: "Show wall-clock time, for recordings made with perf record -k. script: the time of day instead of the recording's clock (perf's -F tod); speedscope: in the name; chrome: in otherData",
  },
];

const LIMIT: OptionSpec = { name: 'limit', value: 'N', section: OUTPUT, text: 'Print at most N rows per event' };
const CHILDREN: OptionSpec = {
  name: 'children',
  section: OUTPUT,
  text: 'Count a function in the samples of its callees, too (inclusive time). Functions of the same name share a row; with --compat perf, each symbol has its own',
};

export const REPORT_ONLY: readonly OptionSpec[] = [
  {
    name: 'sort',
    value: 'KEYS',
    choices: REPORT_KEYS,
    isList: true,
    section: OUTPUT,
    text: `Group samples by these columns: ${REPORT_KEYS.join(', ')}. Default: function,dso`,
  },
  LIMIT,
  {
    name: 'tree',
    section: OUTPUT,
    text: 'Print calls as a tree instead, root first, with inlined functions. --sort adds levels above: comm, pid, tid, input',
  },
  { name: 'percent-limit', value: 'PERCENT', section: OUTPUT, text: 'tree: add up calls with a smaller share of their event. Default: 0.5' },
  CHILDREN,
];

export const DIFF_ONLY: readonly OptionSpec[] = [
  {
    name: 'sort',
    value: 'KEYS',
    choices: DIFF_KEYS,
    isList: true,
    section: OUTPUT,
    text: `Compare by these columns: ${DIFF_KEYS.join(', ')}. Default: function,dso`,
  },
  LIMIT,
  { ...CHILDREN, text: 'Count a function in the samples of its callees, too (inclusive time)' },
  {
    name: 'absolute',
    section: OUTPUT,
    text: "Compare amounts instead of shares: the percentages of both recordings are those of BASE's total. For recordings of the same work",
  },
];

export const VIEW_ONLY: readonly OptionSpec[] = [
  { name: 'no-open', section: OUTPUT, text: 'Only print the address, and open no browser' },
  { name: 'port', value: 'N', section: OUTPUT, text: 'Serve the page at this port of 127.0.0.1. Default: one that is free' },
  { ...BY_INPUT, text: 'First show several inputs apart, each below a root frame with its name' },
];

/** Of commands that print tables. */
export const LAYOUTS: readonly OptionSpec[] = [
  { name: 'json', section: OUTPUT, text: 'Print JSON for programs (its fields are in docs/report-json.md)' },
  { name: 'markdown', section: OUTPUT, text: "Print GitHub's Markdown, as for a comment on a pull request" },
];

export const FILTERS: readonly OptionSpec[] = [
  {
    name: 'event',
    value: 'NAMES',
    isRepeatable: true,
    isList: true,
    section: SAMPLES,
    text: 'Only these events, by the names that perf gives them (perfconv info lists them); modifiers and terms may be left out: cycles for cycles:P and for cycles/freq=99/',
  },
  { name: 'pid', value: 'PIDS', isRepeatable: true, isList: true, section: SAMPLES, text: 'Only these processes; -1 selects samples without one' },
  { name: 'tid', value: 'TIDS', isRepeatable: true, isList: true, section: SAMPLES, text: 'Only these threads; -1 selects samples without one' },
  { name: 'comm', value: 'NAMES', isRepeatable: true, isList: true, section: SAMPLES, text: 'Only threads with these names' },
  { name: 'cpu', value: 'CPUS', isRepeatable: true, isList: true, section: SAMPLES, text: 'Only these CPUs, such as 0,2-3; -1 selects samples without one' },
  {
    name: 'time',
    value: 'RANGES',
    section: SAMPLES,
    text: "Only these time ranges: seconds on the recording's clock, as perf script prints them (12.5,13; either end is optional; separate ranges with spaces), seconds since the first sample (+1,+2.5), or percentages (10%-20%; 10%/2 is the second tenth; separate ranges with commas)",
  },
];

export const SYMBOL_SOURCES: readonly OptionSpec[] = [
  { name: 'symfs', value: 'DIR', section: SYMBOLS, text: "Look for binaries under DIR, which holds the recorded machine's files under their original paths" },
  { name: 'debug-dir', value: 'DIR', isRepeatable: true, section: SYMBOLS, text: 'Look for separate debug files in DIR as well as in /usr/lib/debug' },
  { name: 'buildid-dir', value: 'DIR', section: SYMBOLS, text: "Use this build-id cache of perf's. Default: ~/.debug" },
  { name: 'kallsyms', value: 'FILE', section: SYMBOLS, text: "The recorded machine's /proc/kallsyms. Default: this machine's, if it runs the recorded kernel" },
  {
    name: 'vmlinux',
    value: 'FILE',
    section: SYMBOLS,
    text: "The recorded machine's vmlinux, for names, files and lines of the kernel. Default: the one with the recorded build id, in the usual places",
  },
  { name: 'guestkallsyms', value: 'FILE', section: SYMBOLS, text: "perf kvm: the virtual machine's /proc/kallsyms" },
  { name: 'guestmodules', value: 'FILE', section: SYMBOLS, text: "perf kvm: the virtual machine's /proc/modules, if --guestkallsyms is from another boot" },
  { name: 'guestvmlinux', value: 'FILE', section: SYMBOLS, text: "perf kvm: the virtual machine's vmlinux" },
  {
    name: 'debuginfod',
    value: 'URL',
    isRepeatable: true,
    section: SYMBOLS,
    text: 'Fetch binaries, debug files and kernels missing from this machine from a debuginfod server, by build id; env stands for the servers in DEBUGINFOD_URLS. Default: no server is asked',
  },
  { name: 'explain-symbols', section: SYMBOLS, text: 'Report for each binary where symbols were looked for, what was found, and what would help' },
  {
    name: 'perf-map-dir',
    value: 'DIR',
    section: SYMBOLS,
    text: "Look for perf-PID.map and jit-PID.dump files, which name JIT-compiled code, in DIR. Default: where JITs write them (/tmp, or the dump's recorded path)",
  },
  { name: 'no-inline', section: SYMBOLS, text: 'Leave out inlined functions (report without --tree always does: it counts by symbol)' },
  {
    name: 'demangle-style',
    value: 'STYLE',
    choices: DEMANGLE_STYLES,
    section: SYMBOLS,
    text: 'How much of C++, Rust, Java and OCaml names to show: full (like c++filt), no-params (like perf: no parameters) or simple (like pprof: no template arguments either). Default: simple for pprof and otlp; no-params for script, folded and report, and with --compat perf; else full',
  },
  { name: 'no-demangle', section: SYMBOLS, text: 'Show C++, Rust, Java and OCaml names as the linker sees them' },
];

export const STACK_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'off-cpu',
    section: STACKS,
    text: 'Also show how long threads were off the CPU, by the stack at the switch, as events off-cpu:sleeping, off-cpu:blocked, off-cpu:preempted and off-cpu:waiting (recorded with -e sched:sched_switch or --switch-events)',
  },
  {
    name: 'weight',
    value: 'WEIGHT',
    choices: WEIGHTS,
    section: STACKS,
    text: 'Weigh samples by their period (time for clocks, occurrences for other events), or count samples. Default: period',
  },
  {
    name: 'unknown',
    value: 'HOW',
    choices: UNKNOWN_CODE,
    section: STACKS,
    text: 'Show code without symbols by address, by function (libfoo.so+0x1234: where it begins, for addr2line and objdump) or by binary ([libfoo.so]). script always shows addresses. Default: binary; function in the tables of report and csv; address with --compat perf, except in diff',
  },
  { name: 'max-stack', value: 'N', section: STACKS, text: 'Keep at most N frames per stack, from the leaf' },
  {
    name: 'truncated',
    value: 'HOW',
    choices: TRUNCATED_STACKS,
    section: STACKS,
    text: 'perf record --call-graph dwarf: mark stacks that do not reach their start with a root frame [truncated], keep them as they are, or drop their samples. Default: mark; keep with --compat perf',
  },
  {
    name: 'compat',
    value: 'perf',
    choices: ['perf'],
    section: STACKS,
    text: 'Match perf 6.1, for comparing the two: name frames and cut stacks like perf script; report: count by symbol and by sampled address, like perf report (docs/comparing-with-perf.md)',
  },
];

export const RUN_OPTIONS: readonly OptionSpec[] = [
  { name: 'strict', section: RUNNING, text: 'Exit with status 3 if data was lost' },
  { name: 'quiet', alias: 'q', section: RUNNING, text: 'Print only errors, and one line if data was lost' },
  { name: 'verbose', alias: 'v', section: RUNNING, text: 'Print notes as well as warnings' },
  { name: 'no-progress', section: RUNNING, text: 'Do not show a progress bar (there is none anyway unless standard error is a terminal)' },
];

export const INFO_ONLY: readonly OptionSpec[] = [
  { name: 'json', section: OUTPUT, text: 'Print JSON (its fields are in docs/info-json.md and schema/info.schema.json)' },
  {
    name: 'anonymous',
    section: OUTPUT,
    text: 'Leave out the host name and the command line, and write ~ for home directories in paths; names of events, binaries and BPF programs stay',
  },
];

export const DUMP_ONLY: readonly OptionSpec[] = [
  {
    name: 'json',
    section: OUTPUT,
    text: 'Print one JSON object per line: 64-bit numbers are strings (addresses and bit masks in hex with 0x, the rest in decimal), bytes are hex digits',
  },
  {
    name: 'type',
    value: 'TYPES',
    choices: RECORD_TYPES,
    isList: true,
    section: OUTPUT,
    text: 'Only records of these types, named as in perf_event.h: SAMPLE, MMAP2, COMM, …; DAMAGED selects those that cannot be decoded',
  },
];

/** Options that every command has. */
export const COMMON_OPTIONS: readonly OptionSpec[] = [
  { name: 'help', alias: 'h', section: RUNNING, text: 'Print this help, or that of the given command' },
  { name: 'version', section: RUNNING, text: 'Print the version' },
];
