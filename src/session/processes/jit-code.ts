import { jitDumpPid, perfMapName } from '../../base/names/jit-file-names.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import type { JitDump, OpenJitDump, RefusedJitDump } from '../../jitdump/jitdump.ts';
import { readJitDump } from '../../jitdump/read-jitdump.ts';
import { CLOCK_MONOTONIC } from '../../perfdata/abi/attr-names.ts';
import type { MmapRecord } from '../../perfdata/records/mapping-records.ts';
import { dumpStacks } from '../../perfdata/samples/attr.ts';
import type { RecordingClock } from '../events/clock.ts';
import type { SessionEvent } from '../events/session-event.ts';
import type { TaskTable } from './tasks.ts';

/** More processes that dump their code, and more pieces of code put into place, than any recording has; so many pieces need 200 MB. */
const MAX_DUMPS = 1024;
const MAX_PIECES = 2 ** 22;
/** How many bytes of dumps are kept: once there are as many, no further dump is read. */
const MAX_KEPT_BYTES = 2 ** 29;

/** A process's dump, whose code is yet to be put into place from `next` on. */
interface Timeline {
  readonly pid: number;
  readonly dso: number;
  readonly dump: JitDump;
  /** Rows of the dump's placements in time order. */
  readonly order: Uint32Array;
  next: number;
}

/**
 * Code that JITs describe in jitdump files, each piece with the time from which on it is there. A JIT maps its dump as code, so that recordings show where the
 * file is: from that record on, the dump's pieces of code are put into the process's memory when their time comes. In the dump's DSO, a piece's addresses are
 * its offsets in the dump, so that pieces that replace each other in memory do not mix.
 *
 * Their times can be compared with those of the recording if it has the same clock (`perf record -k mono`). If not, all of a dump is there from the start, with
 * the last of several pieces at one place.
 */
export class JitCode {
  /** When something is to be put into place next: nanoseconds by the session's clock. */
  nextTimeNs = Number.POSITIVE_INFINITY;
  /** By DSO. */
  readonly dumps = new Map<number, JitDump>();
  /** Dumps that are not trusted, by the name that perf gives to the memory with the code. */
  readonly refused = new Map<string, RefusedJitDump>();
  readonly #open: OpenJitDump | undefined;
  readonly #clock: RecordingClock;
  readonly #events: readonly SessionEvent[];
  readonly #tasks: TaskTable;
  readonly #diagnostics: Diagnostics;
  #timelines: Timeline[] = [];
  readonly #met = new Set<string>();
  #pieces = 0;
  #keptBytes = 0;

  constructor(open: OpenJitDump | undefined, clock: RecordingClock, events: readonly SessionEvent[], tasks: TaskTable, diagnostics: Diagnostics) {
    this.#open = open;
    this.#clock = clock;
    this.#events = events;
    this.#tasks = tasks;
    this.#diagnostics = diagnostics;
  }

  /** Reads the dump that a record maps, if it maps one. @param dso of the file that is mapped */
  meet(record: MmapRecord, dso: number): void {
    if (this.#open === undefined || !record.isExecutable || !isJitDump(record.filename)) return;
    const key = `${record.pid} ${dso}`;
    if (this.#met.has(key)) return;
    if (this.#met.size >= MAX_DUMPS || this.#keptBytes >= MAX_KEPT_BYTES) {
      this.#diagnostics.add('jitdump-excess', 'warning', `only the jitdump files of the first ${this.#met.size} processes are read`);
      return;
    }
    this.#met.add(key);
    const dump = this.dumps.get(dso) ?? this.#read(record);
    if (dump === undefined) return;
    if (!this.dumps.has(dso)) this.#keptBytes += keptBytes(dump);
    this.dumps.set(dso, dump);
    const { pid } = record;
    if (this.#hasSameClock(dump)) {
      this.#timelines.push({ pid, dso, dump, order: timeOrder(dump), next: 0 });
      // Times can be compared only once a record has one; a dump may be mapped before that.
      this.nextTimeNs = Number.NEGATIVE_INFINITY;
    } else {
      dump.placements.functions.forEach((_, row) => {
        this.#put(pid, dso, dump, row);
      });
    }
  }

  /** Puts into place all code that was there at a time. */
  applyUpTo(timeNs: number): void {
    let nextTimeNs = Number.POSITIVE_INFINITY;
    for (const timeline of this.#timelines) {
      const { pid, dso, dump, order } = timeline;
      const { timeLo, timeHi } = dump.placements;
      for (; timeline.next < order.length; timeline.next++) {
        const row = order[timeline.next];
        const time = this.#clock.sinceBase(timeLo[row], timeHi[row]);
        if (time > timeNs) {
          nextTimeNs = Math.min(nextTimeNs, time);
          break;
        }
        this.#put(pid, dso, dump, row);
      }
    }
    this.#timelines = this.#timelines.filter(({ next, order }) => next < order.length);
    this.nextTimeNs = nextTimeNs;
  }

  #put(pid: number, dso: number, { functions, placements }: JitDump, row: number): void {
    if (++this.#pieces > MAX_PIECES) {
      this.#diagnostics.add('jitdump-excess', 'warning', `jitdump files place more than ${MAX_PIECES} pieces of code: the rest is left out`);
      return;
    }
    const start = placements.addresses[row];
    const index = placements.functions[row];
    const [fileOffset, sizeBytes] = [functions.fileOffsets[index], functions.sizesBytes[index]];
    this.#tasks.ownSpace(this.#tasks.process(pid)).putCode(start, start + sizeBytes, fileOffset - start, dso);
  }

  #hasSameClock({ hasArchTimes }: JitDump): boolean {
    const isMonotonic = this.#events.every(({ attr }) => attr.flags.has('use_clockid') && attr.clockid === CLOCK_MONOTONIC);
    if (isMonotonic && !hasArchTimes) return true;
    const why = hasArchTimes ? 'the times in jitdump files are from an unknown clock' : 'the recording uses a different clock from jitdump files';
    this.#diagnostics.add('jitdump-clock', 'info', `${why}: code is assumed to be where it was last placed (record with perf record -k mono to avoid this)`);
    return false;
  }

  #read({ filename, pid }: MmapRecord): JitDump | undefined {
    const what = `code that process ${pid} made at run time gets no names from it`;
    const source = this.#open?.(filename, pid);
    if (source === undefined) {
      this.#diagnostics.add('jitdump-missing', 'warning', `${filename} is not on this machine: ${what}`);
      return undefined;
    }
    if ('refusal' in source) {
      this.refused.set(perfMapName(pid), source);
      this.#diagnostics.add('jit-file-refused', 'warning', `${source.name} is not used: ${source.refusal}; ${what}`);
      return undefined;
    }
    try {
      const dump = readJitDump(source, dumpStacks(this.#events));
      const complaint = typeof dump === 'string' ? dump : damageOf(dump);
      if (complaint !== '') this.#diagnostics.add('jitdump-damaged', 'warning', `${source.name}: ${complaint}`);
      return typeof dump === 'string' ? undefined : dump;
    } catch (error) {
      if (!(error instanceof PerfconvError)) throw error;
      this.#diagnostics.add('jitdump-damaged', 'warning', error.message);
      return undefined;
    } finally {
      source.close();
    }
  }
}

/** What is wrong with a dump, in words; empty if nothing is. */
function damageOf({ damage, damagedRecords }: JitDump): string {
  return damagedRecords > 1 ? `${damage}: the first of ${damagedRecords} records that are left out` : damage;
}

/** How many bytes a dump needs: columns of 8-byte numbers, names, unwinding information, and code. */
function keptBytes({ functions, placements, lines, names, unwinding, code }: JitDump): number {
  const columns = [...Object.values(functions), ...Object.values(placements), ...Object.values(lines), unwinding.offsets, unwinding.sizesBytes, code.offsets];
  return columns.reduce((sum, { length }) => sum + 8 * length, names.length + unwinding.bytes.length + code.bytes.length);
}

function isJitDump(path: string): boolean {
  const slash = path.lastIndexOf('/');
  return slash >= 0 && jitDumpPid(path.slice(slash + 1)) !== undefined;
}

/** Rows of the placements in time order; in file order if times are equal. */
function timeOrder({ placements }: JitDump): Uint32Array {
  const { timeLo, timeHi } = placements;
  return Uint32Array.from(timeLo, (_, row) => row).sort((a, b) => timeHi[a] - timeHi[b] || timeLo[a] - timeLo[b] || a - b);
}
