import { StringTable } from '../../../../src/base/tables/string-table.ts';
import { FunctionTable } from '../../../../src/profile/function-table.ts';
import { CPUMODE_KERNEL, CPUMODE_USER, LocationTable } from '../../../../src/profile/location-table.ts';
import type { Mapping, Profile, ProfileEvent, ProfileMeta, ProfileProcess, ProfileTask, ProfileThread } from '../../../../src/profile/profile.ts';
import { SampleRow, SampleTable } from '../../../../src/profile/sample-table.ts';
import { StackTable } from '../../../../src/profile/stack-table.ts';
import { TotalTable } from '../../../../src/profile/total-table.ts';

/** A frame written by hand: `main`, or with DSO, place in the source and inlined callees (innermost first). */
export interface FrameSpec {
  readonly name: string;
  readonly dso?: string;
  /** The linker's name, if that is another. */
  readonly systemName?: string;
  readonly file?: string;
  readonly line?: number;
  readonly inlined?: readonly { name: string; systemName?: string; file?: string; line?: number }[];
  /** Leaves the location without a function. */
  readonly unresolved?: boolean;
  readonly address?: number;
}

export interface SampleSpec {
  readonly timeNs: number;
  readonly event?: string;
  readonly pid?: number;
  readonly tid?: number;
  readonly process?: string;
  readonly comm?: string;
  readonly cpu?: number;
  readonly period?: number;
  /** Root first, as one reads a flame graph from below. */
  readonly stack: readonly (string | FrameSpec)[];
}

/** Builds a Profile from samples written by hand, for tests of writers. Unknown kernel DSO names start with `[kernel`. */
export function buildProfile(
  samples: readonly SampleSpec[],
  options: { meta?: Partial<ProfileMeta>; units?: Record<string, 'nanoseconds' | 'count'> } = {},
): Profile {
  const strings = new StringTable();
  const functions = new FunctionTable();
  const locations = new LocationTable();
  const stacks = new StackTable();
  const totals = new TotalTable();
  const table = new SampleTable();
  const events: ProfileEvent[] = [];
  const mappings: Mapping[] = [];
  const processes: ProfileProcess[] = [];
  const threads: ProfileThread[] = [];
  const tasks: ProfileTask[] = [];
  const addresses = new Map<string, number>();

  const indexOf = <T>(list: T[], match: (item: T) => boolean, make: () => T): number => {
    const found = list.findIndex(match);
    return found >= 0 ? found : list.push(make()) - 1;
  };

  const locationOf = (frame: FrameSpec, isLeaf: boolean): number => {
    const dso = frame.dso ?? '/bin/app';
    const isKernel = dso.startsWith('[kernel');
    const mapping = indexOf(
      mappings,
      (m) => m.name === dso,
      () => ({ name: dso, kind: isKernel ? 'kernel' : 'file', buildId: '', bias: isKernel ? 0 : 0x400000, start: 0x1000, limit: 0x100000, hasSymbols: true }),
    );
    const key = `${dso}\0${frame.name}\0${frame.line ?? 0}`;
    const address = frame.address ?? addresses.get(key) ?? 0x1000 + addresses.size * 16;
    addresses.set(key, address);
    const location = locations.intern(mapping, address >>> 0, Math.floor(address / 2 ** 32) >>> 0, isKernel ? CPUMODE_KERNEL : CPUMODE_USER, !isLeaf);
    if (!frame.unresolved && locations.lineCount(location) === 0) {
      const lines = [...(frame.inlined ?? []), frame].map(({ name, systemName = '', file = '', line = 0 }) => ({
        function: functions.intern(strings.intern(name), strings.intern(systemName), strings.intern(file), 0),
        line,
        column: 0,
        file: 0,
      }));
      locations.setLines(location, lines, 4);
    }
    return location;
  };

  for (const sample of samples) {
    const { pid = 100, comm = 'app', cpu = 0, period = 1_000_000 } = sample;
    const tid = sample.tid ?? pid;
    const name = sample.event ?? 'cpu-clock';
    const unit = options.units?.[name] ?? (name.startsWith('cpu-clock') ? 'nanoseconds' : 'count');
    const event = indexOf(
      events,
      (e) => e.name === name,
      () => ({
        name,
        unit,
        samplePeriod: 0,
        sampleFreq: 1000,
        isTracepoint: name.includes(':') && unit === 'count',
        isDummy: false,
        samples: 0,
        period: 0,
        hasCallchain: true,
      }),
    );
    const process = indexOf(
      processes,
      (p) => p.pid === pid,
      () => ({ pid, name: sample.process ?? comm }),
    );
    const thread = indexOf(
      threads,
      (t) => t.pid === pid && t.tid === tid,
      () => ({ process, pid, tid, name: comm }),
    );
    const task = indexOf(
      tasks,
      (t) => t.thread === thread && t.comm === comm,
      () => ({ thread, comm }),
    );
    let stack = -1;
    sample.stack.forEach((frame, depth) => {
      stack = stacks.intern(stack, locationOf(typeof frame === 'string' ? { name: frame } : frame, depth === sample.stack.length - 1));
    });
    table.add(Object.assign(new SampleRow(), { timeNs: sample.timeNs, event, task, cpu, stack, period }));
    totals.add(event, task, stack, period);
    events[event].samples++;
    events[event].period += period;
  }
  const times = samples.map((sample) => sample.timeNs);
  return {
    meta: {
      inputName: 'perf.data',
      perfVersion: '6.1',
      commandLine: ['perf', 'record', '-g', './app'],
      hostName: 'host',
      osRelease: '6.1.0',
      arch: 'x86_64',
      cpuCount: 2,
      captureTimeNs: 1_700_000_000_000_000_000n,
      startTime: 5_000_000_000n,
      wallClockOffsetNs: undefined,
      durationNs: times.length === 0 ? 0 : Math.max(...times) - Math.min(...times),
      ...options.meta,
    },
    strings,
    events,
    mappings,
    mainMapping: mappings.findIndex((m) => m.kind === 'file'),
    processes,
    threads,
    tasks,
    functions,
    locations,
    stacks,
    totals,
    samples: table,
  };
}
