import { ExactSums } from '../base/tables/exact-sums.ts';
import * as abi from '../perfdata/abi/constants.ts';
import type { Features } from '../perfdata/features/features.ts';
import type { PerfEventAttr } from '../perfdata/samples/attr.ts';
import type { ProfileBuilder } from '../profile/builder.ts';
import type { CounterType, Mapping, Profile, ProfileEvent, ProfileMeta } from '../profile/profile.ts';
import { DETAIL_VALUES, REGISTER_SETS } from '../profile/sample-details.ts';
import { wallClockOffset } from '../session/events/clock.ts';
import { registerNames } from '../session/events/register-names.ts';
import type { SampleFilter } from '../session/filter/filter.ts';
import { filterText } from '../session/filter/filter-text.ts';
import type { SessionResult } from '../session/session.ts';

/** What determines the details of an event's samples. */
export type EventKind = Pick<ProfileEvent, 'isTracepoint' | 'counterType'> & { readonly isBpfOutput: boolean };

const COUNTER_TYPES: ReadonlyMap<number, CounterType> = new Map([
  [abi.PERF_TYPE_HARDWARE, 'hardware'],
  [abi.PERF_TYPE_SOFTWARE, 'software'],
  [abi.PERF_TYPE_RAW, 'raw'],
  [abi.PERF_TYPE_BREAKPOINT, 'breakpoint'],
]);

export function eventKind({ type, config }: PerfEventAttr): EventKind {
  const counterType = COUNTER_TYPES.get(type);
  return {
    isTracepoint: type === abi.PERF_TYPE_TRACEPOINT,
    ...(counterType && { counterType }),
    isBpfOutput: type === abi.PERF_TYPE_SOFTWARE && config === BigInt(abi.PERF_COUNT_SW_BPF_OUTPUT),
  };
}

/**
 * Makes a profile from a session and its tables. Its functions have no names yet.
 * @param inputName the input's name, with or without its directories
 * @param filter which samples were wanted
 */
export function assembleProfile(inputName: string, session: SessionResult, builder: ProfileBuilder, filter: SampleFilter = {}): Profile {
  const mappings = assembleMappings(session, builder);
  return {
    meta: assembleMeta(inputName, session, builder, filterText(filter, session.cutCount)),
    strings: builder.strings,
    events: assembleEvents(session, builder),
    mappings,
    mainMapping: findMainMapping(mappings, builder),
    processes: session.processes.map(({ pid, name }) => ({ pid, name })),
    threads: session.threads.map(({ process, pid, tid, comm }) => ({ process, pid, tid, name: comm })),
    tasks: session.tasks.map((task) => ({ ...task })),
    functions: builder.functions,
    locations: builder.locations,
    stacks: builder.stacks,
    totals: builder.totals,
    samples: builder.samples,
    ...(builder.threadEvents && { threadEvents: builder.threadEvents }),
    ...(builder.branches &&
      session.events.some(({ layout, hasBranchCallStacks }) => layout.has('branchStack') && !hasBranchCallStacks) && { branches: builder.branches }),
  };
}

/** The recorded range of the kernel does not cover all of its code, so mappings are extended to cover their locations. */
function assembleMappings(session: SessionResult, { locations }: ProfileBuilder): Mapping[] {
  const starts = session.dsos.map((dso) => dso.start);
  const limits = session.dsos.map((dso) => dso.limit);
  for (let location = 0; location < locations.size; location++) {
    const mapping = locations.mapping(location);
    if (mapping < 0 || locations.isData(location)) continue;
    const address = locations.address(location);
    if (address < starts[mapping]) starts[mapping] = address;
    if (address >= limits[mapping]) limits[mapping] = address + 1;
  }
  return session.dsos.map(
    ({ name, kind, buildId, bias }, i): Mapping => ({ name, kind, buildId, bias, start: starts[i], limit: limits[i], hasSymbols: false }),
  );
}

function assembleMeta(inputName: string, session: SessionResult, builder: ProfileBuilder, filter: string): ProfileMeta {
  const { features, baseTime, hasTimes } = session;
  const durationNs = hasTimes ? builder.lastTimeNs - builder.firstTimeNs : 0;
  const startTime = hasTimes ? baseTime + BigInt(builder.firstTimeNs) : baseTime;
  const wallClockOffsetNs = wallClockOffset(features, session.events);
  const endTimeNs = simpleperfEndTimeNs(features);
  return {
    inputName: inputName.replace(/^.*[/\\]/s, ''),
    perfVersion: features.version ?? simpleperfVersion(features),
    commandLine: features.cmdline ?? [],
    hostName: features.hostname ?? '',
    osRelease: features.osrelease ?? '',
    arch: features.arch ?? '',
    cpuCount: features.nrCpusOnline,
    captureTimeNs:
      wallClockOffsetNs !== undefined && hasTimes
        ? startTime + wallClockOffsetNs
        : // The file's own time tells nothing, since the file may be a copy.
          endTimeNs && endTimeNs - BigInt(Math.round(durationNs)),
    startTime,
    wallClockOffsetNs,
    durationNs,
    ...(filter !== '' && { filter }),
    ...(session.header.mode === 'pipe' && { isStream: true }),
  };
}

/** `simpleperf 1.build.6735565`; empty in other recordings. */
function simpleperfVersion({ simpleperf }: Features): string {
  const version = simpleperf?.metaInfo.get('simpleperf_version');
  return version === undefined ? '' : `simpleperf ${version}`;
}

/** simpleperf records the wall-clock time in seconds when it ends. */
function simpleperfEndTimeNs({ simpleperf }: Features): bigint | undefined {
  const seconds = simpleperf?.metaInfo.get('timestamp');
  return seconds !== undefined && /^\d{1,12}$/.test(seconds) ? BigInt(seconds) * 1_000_000_000n : undefined;
}

function assembleEvents(session: SessionResult, builder: ProfileBuilder): ProfileEvent[] {
  const arch = session.features.arch ?? '';
  const events = session.events.map(({ attr, name, isClock, isDummy, isOffCpuTime, payload, layout }): ProfileEvent => {
    const { isTracepoint, counterType, isBpfOutput } = eventKind(attr);
    return {
      name,
      unit: isClock || isOffCpuTime ? 'nanoseconds' : 'count',
      samplePeriod: Number(attr.samplePeriod),
      sampleFreq: Number(attr.sampleFreq),
      isTracepoint: isTracepoint && !isOffCpuTime,
      isDummy,
      // simpleperf's off-CPU times are samples of a tracepoint.
      ...(isOffCpuTime && attr.type === abi.PERF_TYPE_SOFTWARE && { isOffCpuTime }),
      samples: 0,
      period: 0,
      hasCallchain: layout.hasCallchain || payload === 'off-cpu',
      hasWeightStruct: (attr.sampleType & abi.PERF_SAMPLE_WEIGHT_STRUCT) !== 0,
      ...(counterType && { counterType }),
      isBpfOutput: isBpfOutput && payload !== 'off-cpu',
      registerNames: { regsIntr: registerNames(arch, attr.sampleRegsIntr), regsUser: registerNames(arch, attr.sampleRegsUser) },
      carries: new Set([...DETAIL_VALUES, ...REGISTER_SETS, 'raw' as const, 'branchStack' as const].filter((field) => layout.has(field))),
    };
  });
  const { totals } = builder;
  const periods = new ExactSums();
  for (let row = 0; row < totals.size; row++) {
    events[totals.event(row)].samples += totals.samples(row);
    periods.add(totals.event(row), totals.period(row), totals.periodRemainder(row));
  }
  for (const [index, event] of events.entries()) {
    event.period = periods.value(index);
    if (periods.remainder(index) !== 0) event.periodRemainder = periods.remainder(index);
  }
  return events;
}

const SHARED_OBJECT = /\.so(\.|$)|\/ld-linux|\/ld-musl/;

/**
 * The program that was profiled: among the mapped files that are not shared libraries, the one with the most frames in the stacks of all samples. A recursive
 * function counts each time it is in a stack. −1 if there is no such file.
 */
function findMainMapping(mappings: readonly Mapping[], builder: ProfileBuilder): number {
  const { totals, stacks, locations } = builder;
  // A parent comes before its children, so one walk from the last stack to the first adds every stack to its callers.
  const samples = new Float64Array(stacks.size);
  for (let row = 0; row < totals.size; row++) if (totals.stack(row) >= 0) samples[totals.stack(row)] += totals.samples(row);
  const weights = new Float64Array(mappings.length);
  for (let stack = stacks.size - 1; stack >= 0; stack--) {
    const mapping = locations.mapping(stacks.location(stack));
    if (mapping >= 0) weights[mapping] += samples[stack];
    const parent = stacks.parent(stack);
    if (parent >= 0) samples[parent] += samples[stack];
  }
  let main = -1;
  mappings.forEach(({ kind, name }, i) => {
    if (kind !== 'file' || SHARED_OBJECT.test(name)) return;
    if (main < 0 || weights[i] > weights[main]) main = i;
  });
  return main;
}
