import type { Diagnostics } from '../base/problems/diagnostics.ts';
import { wordList } from '../base/text/word-list.ts';
import { baseName } from '../profile/names.ts';
import type { Mapping, Profile } from '../profile/profile.ts';
import { eventNames } from '../profile/shown-events.ts';
import type { SessionEvent } from '../session/events/session-event.ts';
import { type BinaryStacks, isCLibrary, isSystemLibrary, stackQuality } from './stack-quality.ts';

/** Fewer samples are only a trial, and fewer broken stacks are chance. */
const LEAST_SAMPLES = 10;
/** Shares of a binary's samples, and of all samples, from which on its broken stacks are worth mentioning. */
const BINARY_SHARE = 0.1;
const NOTABLE_SHARE = 0.05;
/**
 * The share of all samples from which on broken stacks are worth mentioning, whichever binaries they are in. Programs with frame pointers have some, since the
 * C library has none: up to 11 % were measured (allocating and copying memory).
 */
const SHARE = 0.2;
/** If at least this share of a binary's samples reach a start through it, some of it must have frame pointers. */
const SHARE_THROUGH = 0.05;
/** How many binaries the sentence names. */
const SHOWN_NAMES = 3;

/**
 * Reports stacks that break off (`broken-stacks`), with what would help, and samples without any callers (`no-callchains`).
 * @param events of the session, in the order of the profile's
 */
export function reportStackQuality(profile: Profile, events: readonly SessionEvent[], diagnostics: Diagnostics): void {
  const bare = profile.events.filter(
    ({ samples, hasCallchain, isTracepoint, isDummy, isOffCpuTime }, event) =>
      samples >= LEAST_SAMPLES && !hasCallchain && !isTracepoint && !isDummy && !isOffCpuTime && !events[event].isOfTrace,
  );
  if (bare.length > 0) {
    diagnostics.set('no-callchains', 'info', `${eventNames(bare)}: the samples have no callers: record with -g`);
  }
  const isByFramePointers = events.map(hasUserCallchains);
  const quality = stackQuality(profile, isByFramePointers);
  if (quality.broken < LEAST_SAMPLES) return;
  const notable = quality.binaries.filter(
    ({ mapping, samples, broken }) => !isCLibrary(mapping) && broken >= BINARY_SHARE * samples && broken >= NOTABLE_SHARE * quality.samples,
  );
  if (notable.length === 0 && quality.broken < SHARE * quality.samples) return;
  // The first has the most broken stacks. Others are not worth naming if hardly any of their own stacks are broken.
  const many = quality.binaries.filter(({ samples, broken }, i) => i === 0 || broken >= BINARY_SHARE * samples);
  const shown = (notable.length > 0 ? notable : many).slice(0, SHOWN_NAMES);
  diagnostics.set(
    'broken-stacks',
    'warning',
    `${ofEvents(profile, isByFramePointers)}${listed(shown)} have broken stacks: ${remedy(shown.find(({ mapping }) => isBuiltByUsers(mapping)) ?? shown[0], profile)}`,
  );
}

/** Whether all that an event's samples say about user callers is in callchains, which the kernel found by frame pointers. */
function hasUserCallchains({ attr, hasStackDumps, hasBranchCallStacks, layout }: SessionEvent): boolean {
  // The ends of unwound stacks are reported elsewhere; and with perf record --kernel-callchains, nobody wants user callers.
  return layout.hasCallchain && !hasStackDumps && !hasBranchCallStacks && !attr.flags.has('exclude_callchain_user');
}

/** Names the events whose samples are meant, if those of other events were recorded in another way (`-e page-faults/call-graph=fp/`): `page-faults: `. */
function ofEvents({ events }: Profile, isMeant: readonly boolean[]): string {
  const withSamples = (wanted: boolean) => events.filter(({ samples }, event) => samples > 0 && isMeant[event] === wanted);
  return withSamples(false).length === 0 ? '' : `${eventNames(withSamples(true))}: `;
}

/** `97 % of the samples of sort, 93 % of those of find` */
function listed(binaries: readonly BinaryStacks[]): string {
  const shares = binaries.map(
    ({ mapping, samples, broken }, i) => `${((100 * broken) / samples).toFixed(0)} % of ${i === 0 ? 'the samples' : 'those'} of ${baseName(mapping.name)}`,
  );
  return wordList(shares);
}

const JAVA = /\/libjvm\.so$/;
const PYTHON = /\/(?:lib)?python[0-9.]*(?:\.so[0-9.]*)?$/;

const UNWINDING = 'record with --call-graph dwarf';

/** Whether users choose how a binary is built or run. Few distributions build their libraries with frame pointers, and nobody rebuilds them for a profile. */
function isBuiltByUsers(mapping: Mapping): boolean {
  return !isSystemLibrary(mapping) || PYTHON.test(mapping.name) || JAVA.test(mapping.name);
}

/** What would complete the stacks that break off in a binary. */
function remedy(binary: BinaryStacks, profile: Profile): string {
  const { mapping } = binary;
  if (!isBuiltByUsers(mapping)) return `${baseName(mapping.name)} has no frame pointers: ${UNWINDING}`;
  return `${keepFramePointers(binary, profile)}, or ${UNWINDING}`;
}

function keepFramePointers({ mapping: { kind, name }, samples, wholeThrough }: BinaryStacks, { mappings }: Profile): string {
  const isJava = mappings.some((other) => JAVA.test(other.name));
  if (isJava && (kind === 'anon' || JAVA.test(name))) return 'run Java with -XX:+PreserveFramePointer';
  if (kind === 'anon') return 'have the JIT compiler keep frame pointers';
  if (PYTHON.test(name)) return 'run a Python that was built with -fno-omit-frame-pointer';
  // If the binary has some frame pointers, it may be called by code without them, such as the C library's qsort.
  const what = wholeThrough < SHARE_THROUGH * samples ? baseName(name) : `all of ${baseName(name)}, and what calls it,`;
  return `build ${what} with -fno-omit-frame-pointer (Rust: -C force-frame-pointers=yes)`;
}
