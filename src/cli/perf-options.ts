/** What does the work of an option that `perf script`, `perf report` or `perf diff` has: an option here, which the command must have, or a command. */
const INSTEAD_OF: Readonly<Record<string, string>> = {
  '-c': '--comm',
  '--comms': '--comm',
  '-C': '--cpu',
  '-k': '--vmlinux',
  '-s': '--sort',
  '-D': 'perfconv dump',
  '--dump-raw-trace': 'perfconv dump',
  '--show-task-events': 'perfconv dump --type COMM,FORK,EXIT',
  '--show-mmap-events': 'perfconv dump --type MMAP,MMAP2',
  '--show-switch-events': 'perfconv dump --type SWITCH,SWITCH_CPU_WIDE',
  '--show-lost-events': 'perfconv dump --type LOST,LOST_SAMPLES',
  '--show-namespace-events': 'perfconv dump --type NAMESPACES',
  '--show-cgroup-events': 'perfconv dump --type CGROUP',
  '--show-bpf-events': 'perfconv dump --type KSYMBOL,BPF_EVENT',
  '--show-text-poke-events': 'perfconv dump --type TEXT_POKE',
  '-I': 'perfconv info',
  '--show-info': 'perfconv info',
  '--header': 'perfconv info',
  '--header-only': 'perfconv info',
  '-g': 'perfconv report --tree',
  '--call-graph': 'perfconv report --tree',
};

/**
 * What to give in place of an option of perf that does not exist here.
 * @param options the names of those that the command has, with their dashes
 * @returns undefined if nothing does the same, or if the option is not perf's
 */
export function insteadOfPerfs(given: string, options: readonly string[]): string | undefined {
  if (!Object.hasOwn(INSTEAD_OF, given)) return undefined;
  const instead = INSTEAD_OF[given];
  return instead.startsWith('--') && !options.includes(instead) ? undefined : instead;
}
