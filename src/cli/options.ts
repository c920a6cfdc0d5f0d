import { CHROME_STYLES, DEMANGLE_STYLES, GROUPS, PPROF_LABELS, RECORD_TYPES, REPORT_KEYS, SCRIPT_FIELDS, WEIGHTS } from '../pipeline/choices.ts';
import { FORMATS } from '../pipeline/formats.ts';

/** One option: what the parser, the help and the shell's completion know of it. */
export interface OptionSpec {
  readonly name: string;
  readonly alias?: string;
  /** What its value is called in the help; absent for a flag. */
  readonly value?: string;
  /** The values to choose from; with `isList`, several of them with commas between. */
  readonly choices?: readonly string[];
  readonly isList?: boolean;
  /** May be given several times. */
  readonly isRepeatable?: boolean;
  /** Heading in the help. */
  readonly section: string;
  readonly text: string;
}

const OUTPUT = 'Output:';
const SAMPLES = 'Which samples:';
const SYMBOLS = 'Symbols:';
const STACKS = 'Stacks and weights:';
const RUNNING = 'Running:';

const CONVERT_ONLY: readonly OptionSpec[] = [
  {
    name: 'format',
    alias: 't',
    value: 'FORMAT',
    choices: FORMATS,
    section: OUTPUT,
    text: `${FORMATS.join(', ')}. Default: what the output's name tells (.pb.gz .pb .pprof, .speedscope.json, .trace.json, .csv or a directory, .txt, .folded; a further .gz compresses), else pprof. With several outputs: for those whose name tells none`,
  },
  {
    name: 'output',
    alias: 'o',
    value: 'OUTPUT',
    isRepeatable: true,
    section: OUTPUT,
    text: "File, directory (csv) or - for standard output. Give several to make several formats in one pass. Several inputs become one profile (pprof, speedscope, folded, csv). Default: the input's name with the format's ending; standard output when the input is -",
  },
  {
    name: 'labels',
    value: 'LABELS',
    choices: [...PPROF_LABELS, 'none'],
    isList: true,
    section: OUTPUT,
    text: `pprof: what samples are labelled with: ${PPROF_LABELS.join(', ')}, or none. Default: pid,tid,comm; of merged inputs also input`,
  },
  {
    name: 'by-input',
    section: OUTPUT,
    text: 'Merged inputs that would add up stay apart: folded: the input is the root frame; speedscope: one profile for each also with --group all',
  },
  { name: 'group', value: 'GROUP', choices: GROUPS, section: OUTPUT, text: `speedscope: one profile for each ${GROUPS.join(', ')}. Default: thread` },
  {
    name: 'chrome-style',
    value: 'STYLE',
    choices: CHROME_STYLES,
    section: OUTPUT,
    text: 'chrome: events (bars, also for Perfetto), profile (compact, with file and line in DevTools), or auto. Default: auto, which takes events up to 400 MB',
  },
  {
    name: 'fields',
    alias: 'F',
    value: 'FIELDS',
    choices: SCRIPT_FIELDS,
    isList: true,
    section: OUTPUT,
    text: `script: which of ${SCRIPT_FIELDS.join(', ')}; or +FIELD and -FIELD (-F=-FIELD), to add to the default or leave out of it. Default: as perf script`,
  },
  {
    name: 'csv-safe',
    section: OUTPUT,
    text: "csv: an apostrophe before texts that begin with =, +, - or @, which spreadsheets would compute. Default: names as recorded, as in readperf's tables, for programs (docs/untrusted-names.md)",
  },
  { name: 'ns', section: OUTPUT, text: 'script: times with nine decimals' },
  {
    name: 'wall-clock',
    section: OUTPUT,
    text: "When it was by the wall clock, for recordings made with perf record -k: script: the time of day in place of the recording's clock (perf's -F tod); speedscope: in the name; chrome: in otherData",
  },
];

const REPORT_ONLY: readonly OptionSpec[] = [
  {
    name: 'sort',
    value: 'KEYS',
    choices: REPORT_KEYS,
    isList: true,
    section: OUTPUT,
    text: `Columns that tell rows apart: ${REPORT_KEYS.join(', ')}. Default: function,dso`,
  },
  { name: 'limit', value: 'N', section: OUTPUT, text: 'Rows per event at most' },
  {
    name: 'children',
    section: OUTPUT,
    text: 'Count a function also in the samples of what it called (inclusive time). What is called the same is one row; with --compat perf, each symbol is one',
  },
];

const FILTERS: readonly OptionSpec[] = [
  {
    name: 'event',
    value: 'NAMES',
    isRepeatable: true,
    isList: true,
    section: SAMPLES,
    text: 'Only these events, named as perf names them (perfconv info lists them)',
  },
  { name: 'pid', value: 'PIDS', isRepeatable: true, isList: true, section: SAMPLES, text: 'Only these processes; -1 for samples of none' },
  { name: 'tid', value: 'TIDS', isRepeatable: true, isList: true, section: SAMPLES, text: 'Only these threads; -1 for samples of none' },
  { name: 'comm', value: 'NAMES', isRepeatable: true, isList: true, section: SAMPLES, text: 'Only threads of these names' },
  { name: 'cpu', value: 'CPUS', isRepeatable: true, isList: true, section: SAMPLES, text: 'Only these CPUs, such as 0,2-3; -1 for samples that carry none' },
  {
    name: 'time',
    value: 'RANGES',
    section: SAMPLES,
    text: "Only this span: seconds of the recording's clock as perf script prints it (12.5,13; either end may be left out; several with blanks between), seconds since the first sample (+1,+2.5), or per cent (10%-20%; 10%/2 is the second tenth; several with commas between)",
  },
];

const SYMBOL_SOURCES: readonly OptionSpec[] = [
  { name: 'symfs', value: 'DIR', section: SYMBOLS, text: "Look for binaries under DIR, where the recording machine's files lie with their own paths" },
  { name: 'debug-dir', value: 'DIR', isRepeatable: true, section: SYMBOLS, text: 'Look for separate debug files here, too. Default: /usr/lib/debug' },
  { name: 'buildid-dir', value: 'DIR', section: SYMBOLS, text: "perf's build-id cache. Default: ~/.debug" },
  { name: 'kallsyms', value: 'FILE', section: SYMBOLS, text: "The recording machine's /proc/kallsyms. Default: this machine's, if the kernel is the same" },
  {
    name: 'vmlinux',
    value: 'FILE',
    section: SYMBOLS,
    text: "The recording machine's vmlinux, also for files and lines. Default: the one of its build id in the usual places",
  },
  { name: 'guestkallsyms', value: 'FILE', section: SYMBOLS, text: "perf kvm: the virtual machine's /proc/kallsyms" },
  { name: 'guestmodules', value: 'FILE', section: SYMBOLS, text: "perf kvm: the virtual machine's /proc/modules, where --guestkallsyms is of another boot" },
  { name: 'guestvmlinux', value: 'FILE', section: SYMBOLS, text: "perf kvm: the virtual machine's vmlinux" },
  {
    name: 'debuginfod',
    value: 'URL',
    isRepeatable: true,
    section: SYMBOLS,
    text: 'Ask this debuginfod server for binaries and debug files that are not on this machine, by their build ids; env: the servers of DEBUGINFOD_URLS. Default: none is asked',
  },
  { name: 'explain-symbols', section: SYMBOLS, text: 'Say for each binary where symbols were looked for, what was found, and what would help' },
  {
    name: 'perf-map-dir',
    value: 'DIR',
    section: SYMBOLS,
    text: "Names of code made at run time: JITs' perf-PID.map and jit-PID.dump files that were kept. Default: where the JITs put them (/tmp, and the path of the dump)",
  },
  { name: 'no-inline', section: SYMBOLS, text: 'Do not show inlined functions (report never does: it counts by symbol)' },
  {
    name: 'demangle-style',
    value: 'STYLE',
    choices: DEMANGLE_STYLES,
    section: SYMBOLS,
    text: 'Names of C++, Rust, Java and OCaml: full (as c++filt), no-params (as perf: without parameters) or simple (as pprof: without template arguments, too). Default: full; for script and report, and with --compat perf, no-params',
  },
  { name: 'no-demangle', section: SYMBOLS, text: 'Show names of C++, Rust, Java and OCaml as linkers know them' },
];

const STACK_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'weight',
    value: 'WEIGHT',
    choices: WEIGHTS,
    section: STACKS,
    text: 'What counts: period (time for clocks, occurrences for other events) or samples. Default: period',
  },
  { name: 'max-stack', value: 'N', section: STACKS, text: 'Frames per stack at most, from the leaf' },
  {
    name: 'compat',
    value: 'perf',
    choices: ['perf'],
    section: STACKS,
    text: 'Do as perf 6.1 does, to compare the two: name frames and cut stacks as perf script; report: count by symbols and by the addresses of samples, as perf report (docs/comparing-with-perf.md)',
  },
];

const RUN_OPTIONS: readonly OptionSpec[] = [
  { name: 'strict', section: RUNNING, text: 'End with status 3 when data of the recording was lost' },
  { name: 'quiet', alias: 'q', section: RUNNING, text: 'Print errors only, and in one line that data was lost' },
  { name: 'verbose', alias: 'v', section: RUNNING, text: 'Print notes besides warnings' },
  { name: 'no-progress', section: RUNNING, text: 'No progress bar (there is none where standard error is no terminal)' },
];

const INFO_ONLY: readonly OptionSpec[] = [
  { name: 'json', section: OUTPUT, text: 'As JSON (docs/info-json.md and schema/info.schema.json tell its fields)' },
  {
    name: 'anonymous',
    section: OUTPUT,
    text: "Leave out the host's name and the command line, and write ~ for home directories in paths; names of events, binaries and BPF programs stay",
  },
];

/** A command of the program. */
export interface CommandSpec {
  readonly name: string;
  /** How it is called, for the help. */
  readonly usage: string;
  readonly text: string;
  /** Whether it takes more than one input. */
  readonly takesSeveral?: boolean;
  readonly options: readonly OptionSpec[];
  readonly examples: readonly (readonly [command: string, text: string])[];
}

export const CONVERT: CommandSpec = {
  name: 'convert',
  usage: 'perfconv [convert] [INPUT…] [-t FORMAT] [-o OUTPUT]',
  text: 'Convert recordings (the default command): each by itself, or with -o all into one profile',
  takesSeveral: true,
  options: [...CONVERT_ONLY, ...FILTERS, ...SYMBOL_SOURCES, ...STACK_OPTIONS, ...RUN_OPTIONS],
  examples: [
    ['perfconv', 'perf.data to perf.pb.gz, for pprof'],
    ['perfconv -o cpu.pb.gz -o cpu.speedscope.json web.data', 'two formats in one pass'],
    ['perfconv -t folded -o - web.data | flamegraph.pl > web.svg', 'a flame graph'],
    ['perf record -g -o - ./app | perfconv -t folded -', 'straight from perf'],
    ['perfconv -t csv -o tables/ web.data', "readperf's four tables"],
    ['perfconv -t csv --csv-safe -o tables/ web.data', 'the same for a spreadsheet, of a recording that somebody else made'],
    ['perfconv -t script -F comm,tid,time,event,ip,sym --ns -o - web.data', 'perf-script text'],
    ['perfconv -t script --wall-clock -o - web.data', 'the same with the time of day (perf record -k CLOCK_MONOTONIC)'],
    ['perfconv --event cycles --pid 812,813 --cpu 0-3 --time 12.5,13 web.data', 'a part of the recording'],
    ['perfconv --time 10%/2,50%-60% web.data', 'the second tenth of the time, and the sixth'],
    ['perfconv -o all.pb.gz monday.data tuesday.data', 'several recordings in one profile'],
    ['perfconv -t folded --by-input -o all.folded monday.data tuesday.data', 'the same, with the recording as root frame'],
    ['perfconv --comm nginx --tid 813 --labels comm --weight samples web.data', 'one thread, labelled by its name'],
    ['perfconv --group process -o web.speedscope.json web.data', 'one profile per process'],
    ['perfconv --chrome-style profile -o web.trace.json.gz web.data', 'compact trace, compressed'],
    ['perfconv --symfs /mnt/target --kallsyms target.kallsyms web.data', "another machine's recording"],
    ['perfconv --vmlinux vmlinux-6.1.0 web.data', 'kernel functions with files and lines'],
    ['perfconv --guestkallsyms guest.kallsyms --guestmodules guest.modules --guestvmlinux vmlinux perf.data.guest', 'what perf kvm has recorded'],
    ['perfconv --debug-dir /opt/debug --buildid-dir ~/.debug web.data', 'symbols from elsewhere'],
    ['perfconv -o cpu.pb.gz --demangle-style simple web.data', 'std::vector::push_back for std::vector<int, …>::push_back(int&&)'],
    ['perfconv --debuginfod https://debuginfod.debian.net --explain-symbols web.data', 'symbols from a server, and where each was found'],
    ['perfconv --perf-map-dir maps/ node.data', 'code made at run time, by maps that were kept'],
    ['diff <(perf script -i web.data) <(perfconv -t script --compat perf -o - web.data)', 'the same lines as perf script (docs/comparing-with-perf.md)'],
    ['perfconv --no-inline --no-demangle --max-stack 64 -o web.folded web.data', "symbols as linkers know them, and no more than 64 of a stack's"],
    ['perfconv --strict --quiet --no-progress web.data || echo $?', 'in a script (-v instead of -q tells more)'],
  ],
};

export const REPORT: CommandSpec = {
  name: 'report',
  usage: 'perfconv report [INPUT…]',
  text: 'Print function statistics; several inputs add up',
  takesSeveral: true,
  options: [...REPORT_ONLY, ...FILTERS, ...SYMBOL_SOURCES, ...STACK_OPTIONS, ...RUN_OPTIONS],
  examples: [
    ['perfconv report', 'functions of perf.data, by weight'],
    ['perfconv report --sort comm,dso --limit 20 web.data', 'the 20 heaviest pairs of thread name and binary'],
    ['perfconv report --children --weight samples web.data', 'inclusive time, counted in samples'],
    ['perfconv report --compat perf --children web.data', 'the rows of perf report --children'],
    ['perfconv report --sort input,function monday.data tuesday.data', 'two recordings side by side'],
    ['perfconv report --event cycles --pid 812 --time 12.5, web.data', 'a part of the recording'],
    ['perfconv report --symfs /mnt/target --debug-dir /opt/debug web.data', 'symbols from elsewhere'],
  ],
};

export const INFO: CommandSpec = {
  name: 'info',
  usage: 'perfconv info [INPUT] [--json]',
  text: 'Print what a recording holds: header, events, record counts, what is damaged or missing',
  options: [...INFO_ONLY, ...RUN_OPTIONS.map((option) => (option.name === 'verbose' ? { ...option, text: 'Print long lists whole' } : option))],
  examples: [
    ['perfconv info web.data', 'what can be known at a glance'],
    ['perfconv info -v web.data', 'every list whole'],
    ['perfconv info --json web.data | jq .events', 'for programs'],
    ['perfconv info --anonymous web.data > report.txt', 'for a bug report'],
  ],
};

export const DUMP: CommandSpec = {
  name: 'dump',
  usage: 'perfconv dump [INPUT] [--type TYPES] [--json]',
  text: 'Print the records of a recording, one line each, in the order of the file',
  options: [
    {
      name: 'json',
      section: OUTPUT,
      text: 'One JSON object per line: 64-bit numbers as strings (addresses and bits in hex with 0x, others in decimal), bytes as hex digits',
    },
    {
      name: 'type',
      value: 'TYPES',
      choices: RECORD_TYPES,
      isList: true,
      section: OUTPUT,
      text: 'Only records of these types, named as in perf_event.h: SAMPLE, MMAP2, COMM, …; DAMAGED for those whose fields do not fit',
    },
    ...RUN_OPTIONS,
  ],
  examples: [
    ['perfconv dump web.data | less', 'every record'],
    ['perfconv dump --type COMM,FORK,EXIT web.data', 'the life of processes'],
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

export const COMMANDS: readonly CommandSpec[] = [CONVERT, REPORT, INFO, DUMP, COMPLETION];

/** Commands that a later version will have. */
export const COMMANDS_TO_COME: readonly string[] = ['view'];
