import {
  CONVERT_ONLY,
  DIFF_ONLY,
  DUMP_ONLY,
  FILTERS,
  INFO_ONLY,
  LAYOUTS,
  type OptionSpec,
  REPORT_ONLY,
  RUN_OPTIONS,
  STACK_OPTIONS,
  SYMBOL_SOURCES,
  VIEW_ONLY,
} from './options.ts';

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
    ['perfconv -t script --reltime -o - web.data', 'the same with the time since the first sample'],
    ['perfconv -t script --wall-clock -o - web.data', 'the same with the time of day (perf record -k CLOCK_MONOTONIC)'],
    ['perfconv -t script --deltatime -F comm,tid,time,event -o - web.data', 'how long after one another samples were taken'],
    ['perfconv --event cycles --pid 812,813 --cpu 0-3 --time 12.5,13 web.data', 'part of the recording'],
    ['perfconv --time 10%/2,50%-60% web.data', 'the second tenth of the time, and the sixth'],
    ['perfconv -o all.pb.gz monday.data tuesday.data', 'several recordings merged into one profile'],
    ['perfconv -t folded --by-input -o all.folded monday.data tuesday.data', 'several recordings as folded stacks, each below a root frame with its name'],
    [
      'perfconv -t folded --marks kernel,inlined,jit -o - web.data | flamegraph.pl --color java --countname ns > web.svg',
      'a flame graph that tells kernel, inlined and JIT code apart',
    ],
    ['perfconv --comm nginx --tid 813 --labels comm --weight samples web.data', 'one thread, labeled by its name'],
    ['perfconv --group process -o web.speedscope.json web.data', 'one profile per process'],
    ['perfconv --group cpu -o web.trace.json.gz web.data', 'what each CPU did, in DevTools'],
    ['perfconv -o cpu.otlp.gz web.data', 'for an OpenTelemetry collector'],
    ['perfconv --tid 813 -o thread.cpuprofile web.data', 'one thread, for DevTools and editors'],
    ['perfconv -o web.parquet web.data', 'a table with a row for each sample, for DuckDB and pandas'],
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

const REPORT: CommandSpec = {
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

const DIFF: CommandSpec = {
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

const VIEW: CommandSpec = {
  name: 'view',
  usage: 'perfconv view [INPUT…] [--no-open] [--port N]',
  text: 'Show a recording in the browser, as the page of -t html, until Ctrl-C; several inputs are merged',
  takesSeveral: true,
  options: [...VIEW_ONLY, ...FILTERS, ...SYMBOL_SOURCES, ...STACK_OPTIONS, ...RUN_OPTIONS],
  examples: [
    ['perfconv view', 'perf.data in the browser'],
    ['perfconv view --event cycles --time 10%-50% web.data', 'part of a recording'],
    ['perfconv view --by-input monday.data tuesday.data', 'two recordings in one page'],
    ['perf record -g -o - ./app | perfconv view -', 'straight from perf, when the program has ended'],
    ['perfconv view --no-open --port 8080 web.data', 'on a server; ssh -NL 8080:127.0.0.1:8080 SERVER brings the address to another machine'],
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

const DUMP: CommandSpec = {
  name: 'dump',
  usage: 'perfconv dump [INPUT] [--type TYPES] [--json]',
  text: 'Print the records of a recording, one per line, in file order',
  options: [...DUMP_ONLY, ...RUN_OPTIONS],
  examples: [
    ['perfconv dump web.data | less', 'every record'],
    ['perfconv dump --type COMM,FORK,EXIT web.data', 'when processes start and end'],
    ["perfconv dump --json --type SAMPLE web.data | jq -r '.event.name' | sort | uniq -c", 'for programs'],
  ],
};

const COMPLETION: CommandSpec = {
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

export const COMMANDS: readonly CommandSpec[] = [CONVERT, REPORT, DIFF, VIEW, INFO, DUMP, COMPLETION];
