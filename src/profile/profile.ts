import type { StringTable } from '../base/tables/string-table.ts';
import type { BranchTotals } from './branches.ts';
import type { FunctionTable } from './function-table.ts';
import type { LocationTable } from './location-table.ts';
import type { DetailName, RegisterNames } from './sample-details.ts';
import type { SampleTable } from './sample-table.ts';
import type { StackTable } from './stack-table.ts';
import type { ThreadEventTable } from './thread-events.ts';
import type { TotalTable } from './total-table.ts';

/** What is known about a recording as a whole. What is unknown is an empty text or list, or undefined. */
export interface ProfileMeta {
  /** What the input was called, without its directories. */
  readonly inputName: string;
  readonly perfVersion: string;
  readonly commandLine: readonly string[];
  readonly hostName: string;
  readonly osRelease: string;
  readonly arch: string;
  readonly cpuCount: number | undefined;
  /** When the recording began, Unix time in nanoseconds; undefined when it does not say. */
  readonly captureTimeNs: bigint | undefined;
  /**
   * The recording's own clock at the first sample of the profile that has a time, in nanoseconds: what `timeNs` columns count from. If no sample has a time,
   * the first time of any record, or 0. For merged recordings, the earliest by the wall clock; 0 if one of them does not say.
   */
  readonly startTime: bigint;
  /**
   * What to add to the recording's clock to get Unix time, in nanoseconds; undefined if the recording does not say. 0 in a profile of merged recordings that
   * all say it: then `startTime` is in the wall clock.
   */
  readonly wallClockOffsetNs: bigint | undefined;
  /** From the first sample to the last, or to the end of the last time off the CPU, in nanoseconds; 0 if samples carry no time. */
  readonly durationNs: number;
  /** Which samples of the recording the profile has, for people to read: `comm nginx, time 10%-20%`. Absent for all of them. */
  readonly filter?: string;
  /** Whether perf wrote the recording into a pipe (`-o -`); absent for false, and for merged recordings. */
  readonly isStream?: boolean;
}

export type CounterType = 'hardware' | 'software' | 'raw' | 'breakpoint';

/** One event that was recorded (a perf_event_attr with its name). */
export interface ProfileEvent {
  /** As perf prints it: `cpu-clock`, `cycles:u`, `sched:sched_switch`. */
  readonly name: string;
  /** What a period counts: nanoseconds for cpu-clock and task-clock, else occurrences. */
  readonly unit: 'nanoseconds' | 'count';
  /** Events per sample as asked for; 0 when a frequency was asked for instead. */
  readonly samplePeriod: number;
  /** Samples per second as asked for; 0 when a period was. */
  readonly sampleFreq: number;
  /** Whether it is a tracepoint: its samples are single occurrences rather than ticks of a counter. */
  readonly isTracepoint: boolean;
  /** Whether it is perf's dummy event, which only carries side-band records. */
  readonly isDummy: boolean;
  /** Whether its periods are times that threads were off the CPU, which other events do not count; absent for false. */
  readonly isOffCpuTime?: boolean;
  /** Number of samples in the profile, after filters. */
  samples: number;
  /** Sum of their periods. */
  period: number;
  /** The exact sum minus `period`: absent up to 2^53. */
  periodRemainder?: number;
  /**
   * What counts: the CPU by one of perf's names (`cycles`), the kernel (`page-faults`), the CPU by a number of its own (`r1a8`), where perf shows all that
   * samples carry, or a breakpoint (`mem:0x404014:w`). Absent for other events, such as those of caches and PMUs beside the CPU's.
   */
  readonly counterType?: CounterType;
  /** Whether its payloads are the output of a BPF program. */
  readonly isBpfOutput?: boolean;
  /** Whether a weight is three numbers: a u32 and, in the high word, two u16 (PERF_SAMPLE_WEIGHT_STRUCT). */
  readonly hasWeightStruct?: boolean;
  /** Details that its samples carry, whether kept or not; absent if nobody looked. */
  readonly carries?: ReadonlySet<DetailName>;
  /** Names of the registers that its samples carry; absent if nobody looked. */
  readonly registerNames?: RegisterNames;
  /** Shows the raw payload of its samples as text; absent if it is unknown how. */
  showPayload?: (payload: Uint8Array) => string;
  /** Whether its stacks were recorded (`-g`); otherwise each stack is only the sampled address. */
  readonly hasCallchain: boolean;
}

/**
 * - `file`: a mapped file
 * - `kernel`: the kernel image
 * - `module`: a kernel module, or code added to the kernel at run time (BPF)
 * - `vdso`: the kernel's page of user code
 * - `anon`: memory that is not a file, such as JIT code (`/tmp/perf-PID.map` as perf names it), heap and stack
 * - `guest`: the kernel of a virtual machine
 */
export type MappingKind = 'file' | 'kernel' | 'module' | 'vdso' | 'anon' | 'guest';

/** One binary or region of code, however many processes mapped it. */
export interface Mapping {
  /** As perf prints it: `/usr/bin/ls`, `[kernel.kallsyms]`, `[vdso]`, `/tmp/perf-12.map`. */
  readonly name: string;
  readonly kind: MappingKind;
  /** Lower-case hex; empty when unknown. As recorded, but symbolization may replace it. */
  buildId: string;
  /**
   * Where it was first mapped, as a signed double: for `file` and `vdso`, location address + `bias` is the address in the first process that mapped it. 0 if
   * addresses are already run-time addresses.
   */
  readonly bias: number;
  /** The lowest address that is mapped, and the one after the highest, in the same terms as the locations' addresses. */
  readonly start: number;
  readonly limit: number;
  /** Whether symbols were found for it; set by symbolization. */
  hasSymbols: boolean;
  /** Whether the binary itself was found, so that looking for it again would find no more names; set by symbolization. */
  wasFound?: boolean;
}

/** A process over its lifetime: one pid can appear several times, if the system reused the number. */
export interface ProfileProcess {
  /** −1 when the recording does not say. */
  readonly pid: number;
  /** Its last name (comm); empty when none was recorded. */
  name: string;
  /** Index into the profile's inputs, if it has some. */
  readonly input?: number;
}

/** One of the recordings that were merged into a profile. */
export interface ProfileInput {
  /** What it is called where inputs are distinguished; no other input has the same. */
  readonly label: string;
  readonly meta: ProfileMeta;
}

/** A thread over its lifetime. */
export interface ProfileThread {
  /** Index into the profile's processes. */
  readonly process: number;
  /** Copied from the process. */
  readonly pid: number;
  readonly tid: number;
  /** Its last name (comm), `:tid` when none was recorded. */
  name: string;
}

/** A thread under one name (comm): an exec or prctl(PR_SET_NAME) makes a further task of the same thread. */
export interface ProfileTask {
  /** Index into the profile's threads. */
  readonly thread: number;
  /** The name while its samples were taken, `:tid` when none was recorded. */
  readonly comm: string;
  /** Instead of `:tid`: the first name that was recorded later, which perf report shows. */
  readonly laterComm?: string;
}

/** A decoded, symbolized recording: all that a writer sees. Tables hold each thing once, and refer to one another by index; −1 is absent, 0 is valid. */
export interface Profile {
  /** For merged recordings: what all of them say, the earliest start, and the sum of the durations. */
  readonly meta: ProfileMeta;
  /** The recordings that were merged; absent in a profile of one. */
  readonly inputs?: readonly ProfileInput[];
  readonly strings: StringTable;
  readonly events: readonly ProfileEvent[];
  /** In a profile of one recording, these are the DSOs of its session, under the same indexes. */
  readonly mappings: readonly Mapping[];
  /** Index of the mapping of the program that was profiled, −1 when there is none. */
  readonly mainMapping: number;
  readonly processes: readonly ProfileProcess[];
  readonly threads: readonly ProfileThread[];
  readonly tasks: readonly ProfileTask[];
  readonly functions: FunctionTable;
  readonly locations: LocationTable;
  readonly stacks: StackTable;
  /** Samples added up by event, task and stack: always there. */
  readonly totals: TotalTable;
  /**
   * Every sample in time order (in file order if the recording has no `sample_id_all`); undefined unless it was asked for. For merged recordings, those of the
   * first input, then those of the second …, each with its own times from 0 on.
   */
  readonly samples: SampleTable | undefined;
  /** What happened to threads apart from samples; absent unless it was asked for, and in merged profiles. */
  readonly threadEvents?: ThreadEventTable;
  /** How often branches were taken; absent unless that was asked for and recorded. */
  readonly branches?: BranchTotals;
}
