import type { ChosenOptions } from './messages.ts';

const LABELS: Readonly<Record<keyof ChosenOptions, string>> = {
  event: 'Event',
  pid: 'Processes',
  tid: 'Threads',
  comm: 'Thread names',
  time: 'Time',
  truncated: 'Unwound stacks that break off',
  inlines: 'Inlined functions',
  demangle: 'Demangled names',
  offCpu: 'Time off the CPU',
};

/** What page.html calls the options that it has, by their names in the library. */
export const OPTION_LABELS: ReadonlyMap<string, string> = new Map(Object.entries(LABELS));
