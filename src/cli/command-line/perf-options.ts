/** An option here, which the command must have, or a command; or a sentence that says why nothing is needed or possible. */
type Replacement = string | { readonly sentence: string };

const GREP: Replacement = { sentence: 'no option chooses functions or binaries: choose lines of perfconv -t folded -o - with grep' };
const COUNTS: Replacement = { sentence: 'perfconv report prints periods and numbers of samples anyway' };

/** For the long options of `perf script`, `perf report` and `perf diff`, which mean the same in all of them. */
const FOR_NAMES: Readonly<Record<string, Replacement>> = {
  '--comms': '--comm',
  '--symbols': GREP,
  '--dsos': GREP,
  '--hide-call-graph': '--max-stack 1',
  '--call-graph': 'perfconv report --tree',
  '--inverted': 'perfconv report --tree',
  '--stdio': { sentence: 'perfconv report prints text anyway' },
  '--no-children': { sentence: 'perfconv report counts so unless --children is given' },
  '--show-nr-samples': COUNTS,
  '--show-total-period': COUNTS,
  '--dump-raw-trace': 'perfconv dump',
  '--show-task-events': 'perfconv dump --type COMM,FORK,EXIT',
  '--show-mmap-events': 'perfconv dump --type MMAP,MMAP2',
  '--show-switch-events': 'perfconv dump --type SWITCH,SWITCH_CPU_WIDE',
  '--show-lost-events': 'perfconv dump --type LOST,LOST_SAMPLES',
  '--show-namespace-events': 'perfconv dump --type NAMESPACES',
  '--show-cgroup-events': 'perfconv dump --type CGROUP',
  '--show-bpf-events': 'perfconv dump --type KSYMBOL,BPF_EVENT',
  '--show-text-poke-events': 'perfconv dump --type TEXT_POKE',
  '--show-info': 'perfconv info',
  '--header': 'perfconv info',
  '--header-only': 'perfconv info',
};

const FOR_LETTERS_OF_REPORT: Readonly<Record<string, Replacement>> = {
  '-c': '--comm',
  '-C': '--cpu',
  '-d': GREP,
  '-D': 'perfconv dump',
  '-g': 'perfconv report --tree',
  '-G': 'perfconv report --tree',
  '-I': 'perfconv info',
  '-k': '--vmlinux',
  '-n': COUNTS,
  '-s': '--sort',
  '-S': GREP,
};

/** For options of one letter, which differ between perf's commands, by the command here that does the work of one. Source: the help of perf 6.1. */
const FOR_LETTERS: Readonly<Record<string, Readonly<Record<string, Replacement>>>> = {
  convert: { '-c': '--comm', '-C': '--cpu', '-D': 'perfconv dump', '-G': '--max-stack 1', '-I': 'perfconv info', '-k': '--vmlinux', '-S': GREP },
  report: FOR_LETTERS_OF_REPORT,
  view: FOR_LETTERS_OF_REPORT,
  diff: { '-C': '--comm', '-d': GREP, '-D': 'perfconv dump', '-s': '--sort', '-S': GREP },
};

/**
 * What does the work of an option of perf that does not exist here, as the end of a message: `for perf's, give --comm`.
 * @param given the option, with its dashes
 * @param command the name of the command that it is given to
 * @param options the names of the options that the command has, with their dashes
 * @returns undefined if nothing does the same, or if the option is not perf's
 */
export function replacementFor(given: string, command: string, options: readonly string[]): string | undefined {
  const replacement = own(FOR_NAMES, given) ?? own(own(FOR_LETTERS, command) ?? {}, given);
  if (replacement === undefined) return undefined;
  if (typeof replacement !== 'string') return replacement.sentence;
  const isThere = replacement.startsWith('--') ? options.includes(replacement.split(' ')[0]) : replacement !== `perfconv ${command}`;
  return isThere ? `for perf's, give ${replacement}` : undefined;
}

function own<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
