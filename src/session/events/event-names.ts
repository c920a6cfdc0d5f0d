import * as abi from '../../perfdata/abi/constants.ts';
import type { PerfEventAttr } from '../../perfdata/samples/attr.ts';

// Names of generic events by config, in the order of perf_event.h (PERF_COUNT_*), as perf lists them.
const HARDWARE_NAMES = [
  'cycles',
  'instructions',
  'cache-references',
  'cache-misses',
  'branches',
  'branch-misses',
  'bus-cycles',
  'stalled-cycles-frontend',
  'stalled-cycles-backend',
  'ref-cycles',
];
const SOFTWARE_NAMES = [
  'cpu-clock',
  'task-clock',
  'page-faults',
  'context-switches',
  'cpu-migrations',
  'minor-faults',
  'major-faults',
  'alignment-faults',
  'emulation-faults',
  'dummy',
  'bpf-output',
  'cgroup-switches',
];
const CACHE_NAMES = ['L1-dcache', 'L1-icache', 'LLC', 'dTLB', 'iTLB', 'branch', 'node'];
const CACHE_OPERATIONS = [
  ['loads', 'load-misses'],
  ['stores', 'store-misses'],
  ['prefetches', 'prefetch-misses'],
];

/** A name for an event that the recording does not name: for generic events, that of perf; else `type:config`. */
export function nameFromAttr(attr: PerfEventAttr): string {
  return genericName(attr) + eventModifiers(attr);
}

/** That name without modifiers. */
export function genericName({ type, config }: PerfEventAttr): string {
  const low = Number(config & 0xffffffffn);
  switch (type) {
    case abi.PERF_TYPE_HARDWARE:
      return HARDWARE_NAMES[low] ?? `hardware:${low}`;
    case abi.PERF_TYPE_SOFTWARE:
      return SOFTWARE_NAMES[low] ?? `software:${low}`;
    case abi.PERF_TYPE_TRACEPOINT:
      return `tracepoint:${low}`;
    case abi.PERF_TYPE_HW_CACHE: {
      const name = CACHE_NAMES[low & 0xff];
      const operation = CACHE_OPERATIONS[(low >> 8) & 0xff]?.[(low >> 16) & 0xff];
      return name === undefined || operation === undefined ? `hw-cache:0x${low.toString(16)}` : `${name}-${operation}`;
    }
    case abi.PERF_TYPE_RAW:
      return `r${config.toString(16)}`;
    case abi.PERF_TYPE_BREAKPOINT:
      return 'mem';
    default:
      return `pmu${type}/config=0x${config.toString(16)}/`;
  }
}

/** `:u`, `:ku`, `:ppp` … as perf writes them after a name, in its order. Observed: perf 6.1. */
export function eventModifiers(attr: PerfEventAttr): string {
  const { flags } = attr;
  let text = '';
  if (flags.has('exclude_user') || flags.has('exclude_kernel') || flags.has('exclude_hv')) {
    if (!flags.has('exclude_kernel')) text += 'k';
    if (!flags.has('exclude_user')) text += 'u';
    if (!flags.has('exclude_hv')) text += 'h';
  }
  text += 'p'.repeat(attr.preciseIp);
  return text === '' ? '' : `:${text}`;
}

/** The modifiers after a name. Source: perf-list(1), "EVENT MODIFIERS". */
const MODIFIERS = /:[ukhIGHpPSDWebR]+$/;

/**
 * Terms that tell how an event is recorded. Others tell what it counts, as in `cpu/event=0x3c/`, and are part of its name. Source: perf-record(1), "--event", and
 * perf's own messages, which list all of them.
 */
const RECORDING_TERMS: ReadonlySet<string> = new Set([
  'freq',
  'period',
  'time',
  'call-graph',
  'stack-size',
  'max-stack',
  'inherit',
  'no-inherit',
  'overwrite',
  'no-overwrite',
]);
const NAME_WITH_TERMS = /^([^/]+)\/([^/]+)\/[ukhIGHpPSDWebR]*$/;

/** The name without terms and modifiers, as in `cpu-clock` for `cpu-clock/freq=99,call-graph=dwarf/u`. */
function withoutRecordingTerms(name: string): string {
  const [, plain = name, terms = ''] = NAME_WITH_TERMS.exec(name) ?? [];
  return terms.split(',').every((term) => RECORDING_TERMS.has(term.split('=', 1)[0])) ? plain : name;
}

/** What an event counts, without how: its name without blanks around it, modifiers and terms that tell how it is recorded. */
export function plainEventName(name: string): string {
  return withoutRecordingTerms(name.trim()).replace(MODIFIERS, '');
}

/**
 * Whether a name that a user gives means an event: it is the event's name, perhaps without the blanks around that. Modifiers may be left out, as in `cycles` for
 * `cycles:P`, since perf adds some by itself, and so may terms, as in `cycles` for `cycles/freq=99/`; but a name that an event has means that event alone.
 * @param event the event's name
 * @param events all events of the recording
 */
export function meansEvent(given: string, event: string, events: readonly { readonly name: string }[]): boolean {
  const name = event.trim();
  if (given === event || given === name) return true;
  return (name.replace(MODIFIERS, '') === given || withoutRecordingTerms(name) === given) && !events.some((other) => other.name.trim() === given);
}

/** Whether one of the names that a user gives means an event. @param given undefined: all events are wanted @param event, events as in {@link meansEvent} */
export function isWantedEvent(event: string, given: readonly string[] | undefined, events: readonly { readonly name: string }[]): boolean {
  return given === undefined || given.some((name) => meansEvent(name, event, events));
}
