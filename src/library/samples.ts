import { type OptionChecks, oneOf } from '../base/problems/check-options.ts';
import { abortSignal, type CallOptions, Cancellation } from '../base/streams/cancellation.ts';
import { UNKNOWN_CODE, type UnknownCode } from '../pipeline/choices.ts';
import { shownProfile } from '../pipeline/shown-profile-cache.ts';
import { addressText, frameName, inputLabel, NAMELESS } from '../profile/names.ts';
import type { ProfileMeta, Profile as ProfileTables } from '../profile/profile.ts';
import type { SampleTable } from '../profile/sample-table.ts';
import { UNKNOWN_IN_STACKS } from '../profile/unknown-code.ts';
import { everySample } from '../writers/every-sample.ts';
import { isKernelCode } from '../writers/kernel-code.ts';

/** How samples are shown. */
export interface SamplesOptions extends CallOptions {
  /** How code without symbols is shown. Default: `binary`; `address` with `compat: 'perf'`. */
  readonly unknown?: UnknownCode;
}

/** A function in a stack, with all that it was called by. The same calls are the same object, in all samples of one iteration. */
export interface SampleFrame {
  /** Its name; what stands for code without symbols if `hasName` is false. */
  readonly function: string;
  /** Whether the function's name is known. */
  readonly hasName: boolean;
  /** Whether it was inlined into its caller. */
  readonly isInlined: boolean;
  /** Whether it is code of a kernel or a kernel module, of the host or of a guest. */
  readonly isKernel: boolean;
  /** The binary, as perf prints it: `/usr/bin/ls`, `[kernel.kallsyms]`; undefined outside all mappings. */
  readonly dso: string | undefined;
  /** Of the binary, in lower-case hex; undefined if it is unknown. */
  readonly buildId: string | undefined;
  /**
   * The address in the binary: an offset in its file; for kernels and memory that is not a file, the address in memory. Of a caller it is where the call returns
   * to. undefined if the frame stands for several addresses outside all mappings.
   */
  readonly address: bigint | undefined;
  /** The place in the source; undefined if it is unknown. */
  readonly file: string | undefined;
  readonly line: number | undefined;
  /** undefined for the root. */
  readonly caller: SampleFrame | undefined;
}

/** A single sample of a profile. */
export interface ProfileSample {
  /** Name of its event: `cpu-clock`, `off-cpu:sleeping`. */
  readonly event: string;
  /** What it stands for, in the event's unit; beyond 2^53 the nearest number. */
  readonly period: number;
  /** Nanoseconds in the recording's own clock, as in its records; undefined if it has no time. Of a time off the CPU, when it began. */
  readonly timeNs: bigint | undefined;
  /** undefined if it has none. */
  readonly cpu: number | undefined;
  /** −1 if it has none, as the kernel writes it for threads that are ending. */
  readonly pid: number;
  readonly tid: number;
  /** The thread's name when it was taken; `:TID` if it has none. */
  readonly comm: string;
  /** The recording's name; of merged recordings, the one that tells it apart. */
  readonly input: string;
  /** Where it was taken, and the callers; undefined if no stack is known. */
  readonly leaf: SampleFrame | undefined;
}

/** Checks of the options of a profile's `samples()`. */
export const SAMPLES_CHECKS: OptionChecks<SamplesOptions> = {
  unknown: oneOf(UNKNOWN_CODE),
  signal: abortSignal,
};

/** How many samples are given between two checkpoints. */
const SAMPLES_AT_ONCE = 256;

/**
 * The samples of a profile that was read with them, one after the other.
 * @throws the signal's reason, once it is aborted
 */
export async function* sampleValues(
  profile: ProfileTables,
  { unknown, signal }: SamplesOptions,
  compatPerf: boolean,
): AsyncGenerator<ProfileSample, void, void> {
  const cancellation = new Cancellation(signal);
  try {
    cancellation.throwIfAborted();
    const shown = shownProfile(profile, unknown ?? (compatPerf ? 'address' : UNKNOWN_IN_STACKS));
    const samples = everySample(shown, 'samples()');
    const frames = new FrameValues(shown);
    for (let row = 0; row < samples.size; row++) {
      if (row % SAMPLES_AT_ONCE === 0) await cancellation.checkpoint();
      yield sampleOf(shown, samples, row, frames);
      cancellation.throwIfAborted();
    }
  } finally {
    cancellation.end();
  }
}

function sampleOf(profile: ProfileTables, samples: SampleTable, row: number, frames: FrameValues): ProfileSample {
  const { comm, thread } = profile.tasks[samples.task[row]];
  const { pid, tid, process } = profile.threads[thread];
  const { startTime } = metaOf(profile, process);
  const timeNs = samples.timeNs[row];
  const cpu = samples.cpu[row];
  return {
    event: profile.events[samples.event[row]].name,
    period: samples.period[row],
    timeNs: Number.isNaN(timeNs) ? undefined : startTime + BigInt(timeNs),
    cpu: cpu < 0 ? undefined : cpu,
    pid,
    tid,
    comm,
    input: inputLabel(profile, profile.processes[process]),
    leaf: frames.of(samples.stack[row]),
  };
}

/** The recording that a process is of. */
function metaOf({ inputs, meta, processes }: ProfileTables, process: number): ProfileMeta {
  return inputs?.[processes[process].input ?? 0]?.meta ?? meta;
}

/** The frames of stacks, each made once: as many as the profile has places in its tree of stacks, however many samples there are. */
class FrameValues {
  readonly #profile: ProfileTables;
  /** By stack: its leaf. */
  readonly #leaves: (SampleFrame | undefined)[] = [];

  constructor(profile: ProfileTables) {
    this.#profile = profile;
  }

  /** The leaf of a stack; undefined for −1. */
  of(stack: number): SampleFrame | undefined {
    const { stacks } = this.#profile;
    const missing: number[] = [];
    for (let one = stack; one >= 0 && this.#leaves[one] === undefined; one = stacks.parent(one)) missing.push(one);
    for (const one of missing.reverse()) {
      const parent = stacks.parent(one);
      this.#leaves[one] = this.#framesOf(stacks.location(one), parent < 0 ? undefined : this.#leaves[parent]);
    }
    return stack < 0 ? undefined : this.#leaves[stack];
  }

  /** The functions at a location, the innermost one first. */
  #framesOf(location: number, caller: SampleFrame | undefined): SampleFrame {
    const { functions, locations, mappings, strings } = this.#profile;
    const mapping = locations.mapping(location);
    const isStandIn = locations.isStandIn(location);
    const place = {
      isKernel: isKernelCode(this.#profile, location),
      dso: mapping < 0 ? undefined : mappings[mapping].name || NAMELESS,
      buildId: mapping < 0 ? undefined : mappings[mapping].buildId || undefined,
      address: mapping < 0 && isStandIn ? undefined : (BigInt(locations.addressHi(location)) << 32n) | BigInt(locations.addressLo(location)),
    };
    const lines = locations.lineCount(location);
    if (lines === 0)
      return { function: addressText(this.#profile, location), hasName: false, isInlined: false, ...place, file: undefined, line: undefined, caller };
    let frame = caller;
    for (let nth = lines - 1; nth >= 0; nth--) {
      const func = locations.lineFunction(location, nth);
      frame = {
        function: frameName(this.#profile, location, nth),
        hasName: !isStandIn && functions.name(func) !== 0,
        isInlined: nth < lines - 1,
        ...place,
        file: strings.get(locations.lineFile(location, nth) || functions.file(func)) || undefined,
        line: locations.lineNumber(location, nth) || undefined,
        caller: frame,
      };
    }
    return frame as SampleFrame;
  }
}
