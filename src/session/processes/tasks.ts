import { StringTable } from '../../base/tables/string-table.ts';
import { TupleInterner } from '../../base/tables/tuple-interner.ts';
import type { CommRecord, ForkRecord } from '../../perfdata/records/task-records.ts';
import { AddressSpace, GenerationCounter } from './address-space.ts';
import { NodeMemory } from './range-tree.ts';

/** The number that the kernel gives in samples to threads that have ended but still run: they have lost their own. */
const ENDED = -1;

/** A process over its lifetime. */
export interface SessionProcess {
  readonly pid: number;
  /** Position in the file, counted from 0, of the FORK that it began with; −1 if there was none. */
  readonly forkNr: number;
  /** Last name of its main thread; empty when none was recorded. */
  name: string;
  /** Shared with other processes after a fork, until one of them changes its maps. */
  space: AddressSpace;
  isSpaceShared: boolean;
  /** How many programs it has executed. */
  execs: number;
}

/** A thread over its lifetime. */
export interface SessionThread {
  readonly process: number;
  readonly pid: number;
  readonly tid: number;
  /** Current name; `:tid` until one is known. */
  comm: string;
  hasComm: boolean;
  /** Index of the task for the thread under its current name; −1 until it is asked for. */
  task: number;
  /** Of its last sample: the event, the state of the address space, and the surroundings that the replay found for them and the task. −1 for none. */
  readonly last: { event: number; generation: number; surroundings: number };
}

/** A thread under one name. */
export interface SessionTask {
  readonly thread: number;
  readonly comm: string;
  /** The thread's first name, if it was only recorded after the samples. */
  readonly laterComm?: string;
}

/**
 * Processes, threads and their names over time. Records come in time order, but the start of a process is not always recorded before what it does: everything
 * is created when it is first mentioned.
 */
export class TaskTable {
  readonly processes: SessionProcess[] = [];
  readonly threads: SessionThread[] = [];
  readonly tasks: SessionTask[] = [];
  readonly #generations = new GenerationCounter();
  readonly #mapMemory = new NodeMemory();
  readonly #processOf = new Map<number, number>();
  readonly #threadOf = new Map<number, number>();
  /** What stands for the threads of a process that have ended, see {@link ENDED}; by pid. */
  readonly #endedOf = new Map<number, number>();
  readonly #comms = new StringTable();
  /** Rows (thread, comm), one for each task. */
  readonly #taskRows = new TupleInterner(2, 64);
  readonly #keepsMapsAtExec: boolean;
  #lastThread = -1;

  /** @param keepsMapsAtExec whether a process keeps its maps where the new program maps nothing, as with perf 6.1 */
  constructor(keepsMapsAtExec: boolean) {
    this.#keepsMapsAtExec = keepsMapsAtExec;
  }

  /** A new, empty address space, whose generations are numbered along with those of the processes. */
  newSpace(): AddressSpace {
    return new AddressSpace(this.#generations, this.#mapMemory);
  }

  /** Bytes of the maps of all processes. */
  get mapBytes(): number {
    return this.#mapMemory.bytes;
  }

  /** Whether a thread is known that has `tid` now, in process `pid`. */
  has(pid: number, tid: number): boolean {
    return this.#find(pid, tid) !== undefined;
  }

  /** The process of the thread that has `tid` now, or had it last; −1 if it is not known. The idle threads, which have tid 0, are all of process 0. */
  pidOf(tid: number): number {
    if (tid === 0) return 0;
    const known = this.#threadOf.get(tid);
    return known === undefined ? -1 : this.threads[known].pid;
  }

  /** Index of the process that has `pid` now. */
  process(pid: number): number {
    return this.#processOf.get(pid) ?? this.#newProcess(pid, -1, { space: this.newSpace(), isSpaceShared: false });
  }

  /** Index of the thread that has `tid` now, in process `pid`. */
  thread(pid: number, tid: number): number {
    // hot
    const last = this.#lastThread;
    if (last >= 0 && this.threads[last].tid === tid && this.threads[last].pid === pid) return last;
    const known = this.#find(pid, tid);
    if (known !== undefined) {
      this.#lastThread = known;
      return known;
    }
    return this.#newThread(this.process(pid), tid);
  }

  #find(pid: number, tid: number): number | undefined {
    const known = tid === ENDED ? this.#endedOf.get(pid) : this.#threadOf.get(tid);
    return known !== undefined && this.threads[known].pid === pid ? known : undefined;
  }

  /** Index of a thread's current task. */
  taskOf(threadIndex: number): number {
    // hot
    const thread = this.threads[threadIndex];
    if (thread.task < 0) {
      thread.task = this.#taskRows.intern(threadIndex, this.#comms.intern(thread.comm));
      if (thread.task === this.tasks.length) this.tasks.push({ thread: threadIndex, comm: thread.comm });
    }
    return thread.task;
  }

  /** The address space of a process, to be changed: from then on, it belongs to that process alone. */
  ownSpace(processIndex: number): AddressSpace {
    const process = this.processes[processIndex];
    if (process.isSpaceShared) {
      process.space = process.space.clone();
      process.isSpaceShared = false;
    }
    return process.space;
  }

  /** Applies a COMM. perf report also uses a thread's first one for the time before (observed, 6.1). */
  rename(record: CommRecord): void {
    const index = this.thread(record.pid, record.tid);
    const thread = this.threads[index];
    if (record.isExec) this.#exec(this.processes[thread.process]);
    if (!thread.hasComm && thread.task >= 0) this.tasks[thread.task] = { ...this.tasks[thread.task], laterComm: record.comm };
    this.#setComm(thread, record.comm);
  }

  /**
   * Applies a FORK: if pid equals ppid, it is a further thread of a process, otherwise a new process.
   * @param nr position of the record in the file
   */
  fork(record: ForkRecord, nr: number): void {
    const parent = this.threads[this.thread(record.ppid, record.ptid)];
    if (isOfUnseenProcesses(record)) this.#forgetMaps(this.processes[parent.process]);
    if (this.#isRecordedAgain(record, parent)) return;
    // The number may have belonged to another thread before; its EXIT does not always come.
    this.#threadOf.delete(record.tid);
    this.#lastThread = -1;
    let process = this.#processOf.get(record.pid);
    if (record.pid !== record.ppid && record.pid === record.tid) {
      const parentProcess = this.processes[parent.process];
      if (record.isSynthesized) {
        process = this.#newProcess(record.pid, nr, { space: this.newSpace(), isSpaceShared: false });
      } else {
        parentProcess.isSpaceShared = true;
        process = this.#newProcess(record.pid, nr, { space: parentProcess.space, isSpaceShared: true });
      }
    }
    const child = this.threads[this.#newThread(process ?? this.process(record.pid), record.tid)];
    if (parent.hasComm) this.#setComm(child, parent.comm);
  }

  /**
   * Whether a FORK changes nothing, because it was recorded before and the child has done nothing since: simpleperf has every
   * event record forks, execs and maps.
   */
  #isRecordedAgain(record: ForkRecord, parent: SessionThread): boolean {
    const known = this.#threadOf.get(record.tid);
    if (known === undefined) return false;
    const child = this.threads[known];
    if (child.pid !== record.pid || child.task >= 0 || child.comm !== parent.comm) return false;
    // A process may begin while perf lists what there is: then the listed thread is not of the process that the kernel reported.
    if (record.pid === record.ppid) return child.process === parent.process;
    const { space, isSpaceShared } = this.processes[child.process];
    return record.pid === record.tid && isSpaceShared && space === this.processes[parent.process].space;
  }

  /** A new program begins with no maps; those of the last one are kept as its fallback. With perf 6.1, all old maps stay, and the new ones go over them. */
  #exec(process: SessionProcess): void {
    process.execs++;
    if (this.#keepsMapsAtExec) return;
    const old = process.space;
    // Recorded again: see above.
    if (old.isEmpty && old.fallback !== undefined) return;
    process.space = this.newSpace();
    process.isSpaceShared = false;
    if (old.isEmpty) return;
    // Shared or not, only other owners of the old space may still change it, and they copy it first.
    process.space.fallback = old.fallback === undefined ? old : withoutFallback(old);
  }

  #forgetMaps(process: SessionProcess): void {
    process.space = this.newSpace();
    process.isSpaceShared = false;
  }

  /** To be called when a process runs code of its new program: what was mapped before its exec is gone. */
  finishExec(processIndex: number): void {
    this.ownSpace(processIndex).fallback = undefined;
  }

  #setComm(thread: SessionThread, comm: string): void {
    thread.comm = comm;
    thread.hasComm = true;
    thread.task = -1;
    thread.last.event = -1;
    if (thread.pid === thread.tid) this.processes[thread.process].name = comm;
  }

  #newProcess(pid: number, forkNr: number, maps: Pick<SessionProcess, 'space' | 'isSpaceShared'>): number {
    const index = this.processes.push({ pid, forkNr, name: '', ...maps, execs: 0 }) - 1;
    this.#processOf.set(pid, index);
    this.#endedOf.delete(pid);
    return index;
  }

  #newThread(process: number, tid: number): number {
    const { pid } = this.processes[process];
    const index =
      this.threads.push({ process, pid, tid, comm: `:${tid}`, hasComm: false, task: -1, last: { event: -1, generation: -1, surroundings: -1 } }) - 1;
    if (tid === ENDED) this.#endedOf.set(pid, index);
    else this.#threadOf.set(tid, index);
    this.#lastThread = index;
    // The idle task has no COMM record; perf gives it the kernel's name for it.
    if (tid === 0) this.#setComm(this.threads[index], 'swapper');
    return index;
  }
}

/**
 * Whether a FORK is one of processes outside of perf's pid namespace: the kernel gives all of these the number 0. Which of them has mapped what is not known
 * any more once there are two. perf 6.1 forgets their maps then, too (observed).
 */
export function isOfUnseenProcesses({ pid, ppid }: ForkRecord): boolean {
  return pid === 0 && ppid === 0;
}

function withoutFallback(space: AddressSpace): AddressSpace {
  const copy = space.clone();
  copy.fallback = undefined;
  return copy;
}
