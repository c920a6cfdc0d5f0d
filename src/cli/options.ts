import {
  CHROME_STYLES,
  DEMANGLE_STYLES,
  DIFF_KEYS,
  FOLDED_MARKS,
  GROUPS,
  PPROF_LABELS,
  RECORD_TYPES,
  REPORT_KEYS,
  SCRIPT_FIELDS,
  TRUNCATED_STACKS,
  UNKNOWN_CODE,
  WEIGHTS,
} from '../pipeline/choices.ts';
import { FORMATS } from '../pipeline/formats.ts';

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

const CONVERT_ONLY: readonly OptionSpec[] = [
  {
    name: 'format',
    alias: 't',
    value: 'FORMAT',
    choices: FORMATS,
    section: OUTPUT,
    text: `${FORMATS.join(', ')}. Default: chosen by the output's name (.pb.gz .pb .pprof, .speedscope.json, .trace.json, .cpuprofile, .csv or a directory, .txt, .folded, .firefox.json, .html; add .gz to compress), else pprof. With several outputs, applies to those whose name does not decide`,
  },
  {
    name: 'output',
    alias: 'o',
    value: 'OUTPUT',
    isRepeatable: true,
    section: OUTPUT,
    text: "Write to this file, directory (csv) or - for standard output. Repeat it to write several formats in one pass. With several inputs, merge them into one profile (pprof, speedscope, folded, csv, html). Default: the input's name with the format's extension; standard output when the input is -",
  },
  {
    name: 'labels',
    value: 'LABELS',
    choices: [...PPROF_LABELS, 'none'],
    isList: true,
    section: OUTPUT,
    text: `pprof: label samples with any of ${PPROF_LABELS.join(', ')}, or none. Default: those of pid,tid,comm (and input, for merged inputs) in which samples differ`,
  },
  {
    name: 'marks',
    value: 'MARKS',
    choices: [...FOLDED_MARKS, 'none'],
    isList: true,
    section: OUTPUT,
    text: `folded: mark frames of any of ${FOLDED_MARKS.join(', ')} with _[k], _[i], _[j] for flamegraph.pl --color java, or none. Default: kernel`,
  },
  {
    name: 'by-input',
    section: OUTPUT,
    text: 'Keep merged inputs apart. folded, html: make the input the root frame; speedscope: write one profile per input even with --group all',
  },
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
    text: `script: print these fields: ${SCRIPT_FIELDS.join(', ')}. +FIELD adds to the default, -FIELD (written -F=-FIELD) removes from it. Default: the fields of perf script`,
  },
  {
    name: 'csv-safe',
    section: OUTPUT,
    text: 'csv: put an apostrophe before text that a spreadsheet would run as a formula (it begins with =, +, - or @). Default: names as recorded (docs/untrusted-names.md)',
  },
  { name: 'ns', section: OUTPUT, text: 'script: print times with nine decimals' },
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

const REPORT_ONLY: readonly OptionSpec[] = [
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

const DIFF_ONLY: readonly OptionSpec[] = [
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

/** Of commands that print tables. */
const LAYOUTS: readonly OptionSpec[] = [
  { name: 'json', section: OUTPUT, text: 'Print JSON for programs (its fields are in docs/report-json.md)' },
  { name: 'markdown', section: OUTPUT, text: "Print GitHub's Markdown, as for a comment on a pull request" },
];

const FILTERS: readonly OptionSpec[] = [
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

const SYMBOL_SOURCES: readonly OptionSpec[] = [
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
    text: 'Fetch binaries and debug files missing from this machine from a debuginfod server, by build id; env stands for the servers in DEBUGINFOD_URLS. Default: no server is asked',
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
    text: 'How much of C++, Rust, Java and OCaml names to show: full (like c++filt), no-params (like perf: no parameters) or simple (like pprof: no template arguments either). Default: simple for pprof; no-params for script, folded and report, and with --compat perf; else full',
  },
  { name: 'no-demangle', section: SYMBOLS, text: 'Show C++, Rust, Java and OCaml names as the linker sees them' },
];

const STACK_OPTIONS: readonly OptionSpec[] = [
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

const RUN_OPTIONS: readonly OptionSpec[] = [
  { name: 'strict', section: RUNNING, text: 'Exit with status 3 if data was lost' },
  { name: 'quiet', alias: 'q', section: RUNNING, text: 'Print only errors, and one line if data was lost' },
  { name: 'verbose', alias: 'v', section: RUNNING, text: 'Print notes as well as warnings' },
  { name: 'no-progress', section: RUNNING, text: 'Do not show a progress bar (there is none anyway unless standard error is a terminal)' },
];

const INFO_ONLY: readonly OptionSpec[] = [
  { name: 'json', section: OUTPUT, text: 'Print JSON (its fields are in docs/info-json.md and schema/info.schema.json)' },
  {
    name: 'anonymous',
    section: OUTPUT,
    text: 'Leave out the host name and the command line, and write ~ for home directories in paths; names of events, binaries and BPF programs stay',
  },
];

/** Options that every command has. */
export const COMMON_OPTIONS: readonly OptionSpec[] = [
  { name: 'help', alias: 'h', section: RUNNING, text: 'Print this help, or that of the given command' },
  { name: 'version', section: RUNNING, text: 'Print the version' },
];

/** A command of the program. */
export interface CommandSpec {
  readonly name: string;
  /** Its usage line in the help. */
  readonly usage: string;
  readonly text: string;
  /** Whether it accepts more than one input. */
  readonly takesSeveral?: boolean;
  readonly options: readonly OptionSpec[];
  readonly examples: readonly (readonly [command: string, text: string])[];
}

export const CONVERT: CommandSpec = {
  name: 'convert',
  usage: 'perfconv [convert] [INPUT…] [-t FORMAT] [-o OUTPUT]',
  text: 'Convert recordings (the default command): one by one, or merged into one profile with -o',
  takesSeveral: true,
  options: [...CONVERT_ONLY, ...FILTERS, ...SYMBOL_SOURCES, ...STACK_OPTIONS, ...RUN_OPTIONS],
  examples: [
    ['perfconv', 'perf.data to perf.pb.gz, for pprof'],
    ['perfconv -o cpu.pb.gz -o cpu.speedscope.json web.data', 'two formats in one pass'],
    ['perfconv -o web.html web.data', 'a page with a flame graph, for any browser'],
    ['perfconv -t folded -o - web.data | flamegraph.pl > web.svg', 'the same as a picture'],
    ['perf record -g -o - ./app | perfconv -t folded -', 'straight from perf'],
    ['perfconv -t csv -o tables/ web.data', "readperf's tables, and one of branches if any were recorded"],
    ['perfconv -t csv --csv-safe -o tables/ web.data', 'the same, safe to open in a spreadsheet'],
    ['perfconv -t script -F comm,tid,time,event,ip,sym --ns -o - web.data', 'the text of perf script'],
    ['perfconv -t script --wall-clock -o - web.data', 'the same with the time of day (perf record -k CLOCK_MONOTONIC)'],
    ['perfconv --event cycles --pid 812,813 --cpu 0-3 --time 12.5,13 web.data', 'part of the recording'],
    ['perfconv --time 10%/2,50%-60% web.data', 'the second tenth of the time, and the sixth'],
    ['perfconv -o all.pb.gz monday.data tuesday.data', 'several recordings merged into one profile'],
    ['perfconv -t folded --by-input -o all.folded monday.data tuesday.data', 'several recordings as folded stacks, each below a root frame with its name'],
    [
      'perfconv -t folded --marks kernel,inlined,jit -o - web.data | flamegraph.pl --color java --countname ns > web.svg',
      'a flame graph that tells kernel, inlined and JIT code apart',
    ],
    ['perfconv --comm nginx --tid 813 --labels comm --weight samples web.data', 'one thread, labelled by its name'],
    ['perfconv --group process -o web.speedscope.json web.data', 'one profile per process'],
    ['perfconv --group cpu -o web.trace.json.gz web.data', 'what each CPU did, in DevTools'],
    ['perfconv --tid 813 -o thread.cpuprofile web.data', 'one thread, for DevTools and editors'],
    ['perfconv --chrome-style events -o web.trace.json.gz web.data', 'bars for Perfetto, compressed'],
    ['perfconv --symfs /mnt/target --kallsyms target.kallsyms web.data', 'a recording from another machine'],
    ['perfconv --vmlinux vmlinux-6.1.0 web.data', 'kernel functions with files and lines'],
    ['perfconv --guestkallsyms guest.kallsyms --guestmodules guest.modules --guestvmlinux vmlinux perf.data.guest', 'a recording made by perf kvm'],
    ['perfconv --debug-dir /opt/debug --buildid-dir ~/.debug web.data', 'symbols from elsewhere'],
    ['perfconv -o cpu.pb.gz --demangle-style full web.data', 'std::vector<int, …>::push_back(int&&) instead of std::vector::push_back'],
    ['perfconv --debuginfod https://debuginfod.debian.net --explain-symbols web.data', 'symbols from a server, and where each was found'],
    ['perfconv --perf-map-dir maps/ node.data', 'JIT-compiled code, named by the map files in maps/'],
    ['diff <(perf script -i web.data) <(perfconv -t script --compat perf -o - web.data)', 'the same lines as perf script (docs/comparing-with-perf.md)'],
    ['perfconv --no-inline --no-demangle --max-stack 64 -o web.folded web.data', 'raw symbol names, no inlined functions, at most 64 frames per stack'],
    ['perfconv --off-cpu -o web.pb.gz web.data', 'also how long threads waited, and where'],
    ['perfconv --truncated drop -o web.folded web.data', 'only whole stacks of a --call-graph dwarf recording'],
    ['perfconv --unknown function -o web.pb.gz web.data', 'tell the functions of stripped binaries apart: libfoo.so+0x1234'],
    ['perfconv --strict --quiet --no-progress web.data || echo $?', 'for scripts'],
  ],
};

export const REPORT: CommandSpec = {
  name: 'report',
  usage: 'perfconv report [INPUT…] [--tree] [--json|--markdown]',
  text: 'Print a table of the hottest functions; several inputs are added up',
  takesSeveral: true,
  options: [...REPORT_ONLY, ...LAYOUTS, ...FILTERS, ...SYMBOL_SOURCES, ...STACK_OPTIONS, ...RUN_OPTIONS],
  examples: [
    ['perfconv report', 'the hottest functions of perf.data'],
    ['perfconv report --sort comm,dso --limit 20 web.data', 'the 20 heaviest pairs of thread name and binary'],
    ['perfconv report --children --weight samples web.data', 'inclusive time, counted in samples'],
    ['perfconv report --tree --percent-limit 1 web.data', 'who calls what, as a tree, without what has less than 1 %'],
    ['perfconv report --tree --sort comm --limit 40 web.data', 'a tree for each thread name: the 40 heaviest calls'],
    ['perfconv report --compat perf --children web.data', 'the rows of perf report --children'],
    ['perfconv report --sort input,function monday.data tuesday.data', 'two recordings side by side'],
    ["perfconv report --json web.data | jq '.tables[0].rows[0].function'", 'for programs'],
    ['perfconv report --markdown --limit 20 web.data > comment.md', 'for a comment on a pull request'],
    ['perfconv report --unknown address web.data', 'a row for each address of code without symbols'],
    ['perfconv report --event cycles --pid 812 --time 12.5, web.data', 'part of the recording'],
    ['perfconv report --symfs /mnt/target --debug-dir /opt/debug web.data', 'symbols from elsewhere'],
  ],
};

export const DIFF: CommandSpec = {
  name: 'diff',
  usage: 'perfconv diff BASE NEW [--json|--markdown]',
  text: 'Print what became slower and faster from one recording to another',
  takesSeveral: true,
  options: [...DIFF_ONLY, ...LAYOUTS, ...FILTERS, ...SYMBOL_SOURCES, ...STACK_OPTIONS, ...RUN_OPTIONS],
  examples: [
    ['perfconv diff monday.data tuesday.data', "changes of each function's share of the time"],
    ['perfconv diff --limit 20 --markdown monday.data tuesday.data > comment.md', 'the 20 largest changes, for a comment on a pull request'],
    ['perfconv diff --sort comm,dso monday.data tuesday.data', 'by thread name and binary'],
    ['perfconv diff --absolute --children monday.data tuesday.data', 'the same work recorded twice: changes of the time itself, with callees'],
    ["perfconv diff --json --event cpu-clock monday.data tuesday.data | jq '.events[0].ratio'", 'for programs'],
  ],
};

export const INFO: CommandSpec = {
  name: 'info',
  usage: 'perfconv info [INPUT] [--json]',
  text: 'Print what a recording holds: header, events, record counts, damage and gaps',
  options: [...INFO_ONLY, ...RUN_OPTIONS.map((option) => (option.name === 'verbose' ? { ...option, text: 'Print long lists in full' } : option))],
  examples: [
    ['perfconv info web.data', 'an overview'],
    ['perfconv info -v web.data', 'with every list in full'],
    ['perfconv info --json web.data | jq .events', 'for programs'],
    ['perfconv info --anonymous web.data > report.txt', 'for a bug report'],
  ],
};

export const DUMP: CommandSpec = {
  name: 'dump',
  usage: 'perfconv dump [INPUT] [--type TYPES] [--json]',
  text: 'Print the records of a recording, one per line, in file order',
  options: [
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
    ...RUN_OPTIONS,
  ],
  examples: [
    ['perfconv dump web.data | less', 'every record'],
    ['perfconv dump --type COMM,FORK,EXIT web.data', 'when processes start and end'],
    ["perfconv dump --json --type SAMPLE web.data | jq -r '.event.name' | sort | uniq -c", 'for programs'],
  ],
};

export const COMPLETION: CommandSpec = {
  name: 'completion',
  usage: 'perfconv completion [bash|zsh|fish]',
  text: 'Print a completion script for bash, zsh or fish',
  options: [],
  examples: [
    ['source <(perfconv completion bash)', 'in ~/.bashrc'],
    ['source <(perfconv completion zsh)', 'in ~/.zshrc'],
    ['perfconv completion fish | source', 'in config.fish'],
  ],
};

export const COMMANDS: readonly CommandSpec[] = [CONVERT, REPORT, DIFF, INFO, DUMP, COMPLETION];

/** Commands planned for a later version. */
export const COMMANDS_TO_COME: readonly string[] = ['view'];
