import type { Diagnostics } from '../base/diagnostics.ts';
import { baseName } from '../profile/names.ts';
import type { Mapping, Profile } from '../profile/profile.ts';
import type { SessionEvent } from '../session/events.ts';
import { MAX_DUMP_BYTES, type UnwindEnds } from '../session/unwind-ends.ts';

/** The share of stacks from which on those that do not reach their start are worth a warning; fewer than so many samples never are. */
const NOTABLE_SHARE = 0.01;
const LEAST_SAMPLES = 10;
/** How many causes the sentence names. */
const SHOWN_CAUSES = 3;

/** Why stacks end too early, and what helps. */
interface Cause {
  readonly samples: number;
  /** `are cut off by the size of the stack dumps` */
  readonly what: string;
  readonly remedy: string;
}

/** Reports how many of the stacks that were unwound do not reach the start of their thread (`truncated-stacks`), why, and what would help. */
export function reportUnwoundStacks(
  { mappings }: Pick<Profile, 'mappings'>,
  events: readonly SessionEvent[],
  ends: UnwindEnds,
  diagnostics: Diagnostics,
): void {
  if (ends.cut === 0) return;
  const dumpBytes = Math.max(...events.filter(({ hasStackDumps }) => hasStackDumps).map(({ attr }) => attr.sampleStackUser));
  const causes = [
    { samples: ends.truncated, what: 'are cut off by the size of the stack dumps', remedy: largerDumps(dumpBytes) },
    {
      samples: ends.outOfReach,
      what: 'go on where no dump reaches: on another stack, as out of a signal handler that has its own, or beyond memory that was never touched',
      remedy: '',
    },
    { samples: ends.broken, what: 'are broken', remedy: '' },
    { samples: ends.limit, what: 'have no end', remedy: '' },
    ...[...ends.byFile].flatMap(([file, { noRule, noModule }]): Cause[] => [withoutRule(noRule, mappings[file]), withoutFile(noModule, mappings[file])]),
  ].filter(({ samples }) => samples > 0);
  const isNotable = ends.cut >= LEAST_SAMPLES && ends.cut >= NOTABLE_SHARE * ends.all;
  const listed = summed(causes)
    .sort((a, b) => b.samples - a.samples)
    .slice(0, SHOWN_CAUSES)
    .map(({ samples, what, remedy }) => `${percent(samples, ends.all)} ${what}${remedy === '' ? '' : ` (${remedy})`}`);
  const message = `${percent(ends.cut, ends.all)} of the unwound stacks do not reach the start of their thread: ${listed.join('; ')}`;
  diagnostics.set('truncated-stacks', isNotable ? 'warning' : 'info', message);
}

/** Several regions of code may have one cause: it is said once. */
function summed(causes: readonly Cause[]): Cause[] {
  const byWhat = new Map<string, Cause>();
  for (const cause of causes) {
    const { what, samples } = cause;
    byWhat.set(what, { ...cause, samples: samples + (byWhat.get(what)?.samples ?? 0) });
  }
  return [...byWhat.values()];
}

/** `12 %`; of less than one, `0.3 %`. */
function percent(part: number, all: number): string {
  const share = (100 * part) / all;
  return `${share < 0.05 ? 'fewer than 0.1' : share < 1 ? share.toFixed(1) : share.toFixed(0)} %`;
}

function largerDumps(dumpBytes: number): string {
  if (dumpBytes >= MAX_DUMP_BYTES) return 'there are no larger ones: build with -fno-omit-frame-pointer and record with --call-graph fp';
  return `record with --call-graph dwarf,${Math.min(MAX_DUMP_BYTES, Math.max(8192, dumpBytes) * 2)}`;
}

function withoutRule(samples: number, mapping: Mapping | undefined): Cause {
  const name = nameOf(mapping);
  return {
    samples,
    what: `end in ${name}, which does not say how its code is unwound`,
    remedy: `install its debug package, or build it with -fasynchronous-unwind-tables`,
  };
}

function withoutFile(samples: number, mapping: Mapping | undefined): Cause {
  if (mapping?.kind === 'anon' || mapping === undefined) {
    return { samples, what: 'end in code that was made at run time', remedy: 'let what made it keep frame pointers: java -XX:+PreserveFramePointer' };
  }
  // Not real return addresses, or another file than the one that ran.
  if (mapping.wasFound) return { samples, what: `lead to places in ${nameOf(mapping)} where the file has no code`, remedy: '' };
  return { samples, what: `end in ${nameOf(mapping)}, which was not found`, remedy: '--symfs and --debuginfod say where to look' };
}

function nameOf(mapping: Mapping | undefined): string {
  return mapping === undefined ? 'an unknown file' : baseName(mapping.name);
}
