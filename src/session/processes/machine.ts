import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import * as abi from '../../perfdata/abi/constants.ts';
import type { Features } from '../../perfdata/features/features.ts';
import type { BuildIdRecord, MmapRecord } from '../../perfdata/records/mapping-records.ts';
import type { SideBand } from '../../perfdata/records/side-band.ts';
import type { EventIds } from '../events/event-ids.ts';
import type { AddressSpace } from './address-space.ts';
import { classifyUserMap, DsoTable, type MapRules } from './dsos.ts';
import type { JitCode } from './jit-code.ts';
import { Kernels } from './kernels.ts';
import type { DsoRange } from './range-tree.ts';
import { SymbolMaps } from './symbol-maps.ts';
import { isOfUnseenProcesses, TaskTable } from './tasks.ts';

/** About how many bytes an object needs, with its strings and the entries by which it is found. Observed: Node 20. */
const PROCESS_BYTES = 600;
const TASK_BYTES = 300;
const DSO_BYTES = 600;

/** Size of huge pages on x86-64, and on arm64 with pages of 4 KiB. */
const HUGE_PAGE_BYTES = 2 << 20;

const UNSEEN_PROCESSES =
  'processes that perf could not see all have the number 0, so their names may be those of others, and most of their code is unknown: run perf on the host, or in a container that has its processes (docker run --pid=host)';

/** Maximum number of pieces of code that are kept in one map: further ones are not. */
const MAX_CODE_PIECES = 64;

/** Whether a record says anything about what runs, or what is mapped. */
export function changesMachine({ kind }: SideBand): boolean {
  return kind === 'mmap' || kind === 'comm' || kind === 'fork' || kind === 'ksymbol';
}

/** The recorded machine at the moment that the replay has reached: which threads there are, and what is mapped where. */
export class Machine {
  readonly tasks: TaskTable;
  readonly dsos = new DsoTable();
  readonly kernels: Kernels;
  readonly jitCode: JitCode;
  readonly #symbolMaps: SymbolMaps;
  readonly #features: Features;
  readonly #isFile = (dso: number): boolean => this.dsos.dsos[dso].kind === 'file';
  readonly #eventIds: EventIds;
  readonly #compatPerf: boolean;
  readonly #namesMemory: boolean;
  readonly #diagnostics: Diagnostics;

  /**
   * @param rules how to interpret maps
   * @param openJitCode makes what knows where JITs put their code, given the tasks whose code it is
   */
  constructor(
    features: Features,
    eventIds: EventIds,
    { compatPerf, namesMemory }: Required<Pick<MapRules, 'compatPerf' | 'namesMemory'>>,
    openJitCode: (tasks: TaskTable) => JitCode,
    diagnostics: Diagnostics,
  ) {
    this.tasks = new TaskTable(compatPerf);
    this.jitCode = openJitCode(this.tasks);
    this.kernels = new Kernels(() => this.tasks.newSpace(), this.dsos, compatPerf ? listedKernelFiles(features.buildIds ?? []) : new Set());
    this.#symbolMaps = new SymbolMaps(features.simpleperf?.files ?? [], this.tasks, this.dsos);
    this.#features = features;
    this.#eventIds = eventIds;
    this.#compatPerf = compatPerf;
    this.#namesMemory = namesMemory;
    this.#diagnostics = diagnostics;
  }

  /** Bytes of the maps of all processes. */
  get heldBytes(): number {
    return this.tasks.mapBytes;
  }

  /** About how many bytes the objects of tasks and files need. */
  get heldObjectBytes(): number {
    const { processes, threads, tasks } = this.tasks;
    return processes.length * PROCESS_BYTES + (threads.length + tasks.length) * TASK_BYTES + this.dsos.dsos.length * DSO_BYTES;
  }

  /**
   * Applies a record.
   * @param nr its position in the file, −1 for what is not among its records
   */
  apply(sideBand: SideBand, nr: number): void {
    switch (sideBand.kind) {
      case 'mmap':
        this.#map(sideBand.record, sideBand.misc & abi.PERF_RECORD_MISC_CPUMODE_MASK);
        break;
      case 'comm':
        this.tasks.rename(sideBand.record);
        if (sideBand.record.isExec) this.#symbolMaps.apply(sideBand.record.pid);
        break;
      case 'fork':
        this.tasks.fork(sideBand.record, nr);
        if (isOfUnseenProcesses(sideBand.record)) this.#diagnostics.add('unseen-processes', 'warning', UNSEEN_PROCESSES);
        if (sideBand.record.pid === sideBand.record.tid) this.#symbolMaps.apply(sideBand.record.pid);
        break;
      case 'ksymbol':
        this.kernels.apply(sideBand.record);
        break;
      // Samples of the thread may come after its EXIT. It ends when a FORK gives its number to another one.
      case 'exit':
      case 'lost':
      case 'lostSamples':
      case 'callchain':
      case 'other':
        break;
    }
  }

  /**
   * Maps of programs in virtual machines come only with ids of these (`perf inject --guest-data`). Without them, a map of this mode is one of the recorded
   * machine, and perf reads it so: `perf inject -B` writes them for callers of kernel code (observed: perf 6.12 to 7.3).
   */
  #map(record: MmapRecord, cpumode: number): void {
    const isUnknown = cpumode === abi.PERF_RECORD_MISC_CPUMODE_UNKNOWN;
    if (cpumode === abi.PERF_RECORD_MISC_KERNEL || (isUnknown && record.pid === -1)) this.kernels.map(record);
    else if (cpumode === abi.PERF_RECORD_MISC_GUEST_KERNEL) this.#mapGuestKernel(record);
    else if (cpumode === abi.PERF_RECORD_MISC_USER || isUnknown || !this.#eventIds.hasGuests) this.#mapUser(record);
    else this.#diagnostics.add('guest-map', 'warning', 'mappings of programs in a virtual machine are not used: their code has no names');
  }

  #mapGuestKernel(record: MmapRecord): void {
    const guest = this.kernels.mapGuest(record);
    if (guest >= 0) this.tasks.ownSpace(this.tasks.process(record.pid)).guest = guest;
  }

  #mapUser(recorded: MmapRecord): void {
    // Old kernels give the vdso's address for its place in the file (observed, Linux 3.2).
    const record = recorded.filename === '[vdso]' && recorded.pageOffset === recorded.start ? { ...recorded, pageOffset: 0 } : recorded;
    const space = this.tasks.ownSpace(this.tasks.process(record.pid));
    // For perf, JIT code is in the file into which simpleperf has put it.
    const mapped = this.#compatPerf ? { ...record, isJitSymfile: false } : record;
    const { arch = '', simpleperf } = this.#features;
    const rules = { compatPerf: this.#compatPerf, arch: simpleperf === undefined ? arch : undefined, namesMemory: this.#namesMemory };
    const { kind, name } = classifyUserMap(mapped, rules);
    const end = record.start + record.length;
    const movesText = !this.#compatPerf && record.isExecutable;
    if (movesText && kind === 'anon' && isMovedText(space, record.start, end, this.#isFile)) return;
    const dso = this.dsos.internMapped(mapped, kind, name);
    const isFile = kind === 'file' || kind === 'vdso';
    const delta = isFile ? record.pageOffset - record.start : 0;
    const mayHoldCode = !this.#compatPerf && !record.isExecutable && kind === 'anon' && !record.filename.startsWith('[');
    const code = mayHoldCode ? this.#codeIn(space, record.start, end) : [];
    space.map(record.start, end, delta, dso);
    for (const part of code) space.map(part.start, part.end, part.delta, part.dso);
    if (!isFile) return; // A JIT's own memory: it is recorded again when its protection changes.
    const moved = movesText ? movedTextBefore(space, record.start, this.#isFile) : undefined;
    if (moved !== undefined) space.map(moved.start, moved.end, delta, dso);
    space.removeCode(record.start, end);
    this.jitCode.meet(record, dso);
  }

  /**
   * The code of a JIT in [start, end), where memory is mapped that is not executable: some JITs make their code non-executable while they write to it (Ruby's
   * YJIT, observed), and are called from it meanwhile.
   */
  #codeIn(space: AddressSpace, start: number, end: number): DsoRange[] {
    const code: DsoRange[] = [];
    let range = space.mapEndingAfter(start);
    while (range !== undefined && range.start < end && code.length < MAX_CODE_PIECES) {
      const { kind, codeStart } = this.dsos.dsos[range.dso];
      if (kind === 'anon' && Number.isFinite(codeStart)) code.push({ ...range, start: Math.max(range.start, start), end: Math.min(range.end, end) });
      range = space.mapEndingAfter(range.end);
    }
    return code;
  }
}

/**
 * The files of the kernel that a recording lists with a build id. perf shows these by their paths, others as `[kernel.kallsyms]` and `[module]` (observed, perf
 * 6.1 and 7.2).
 */
function listedKernelFiles(buildIds: readonly BuildIdRecord[]): ReadonlySet<string> {
  const ofKernel = buildIds.filter(({ misc }) => (misc & abi.PERF_RECORD_MISC_CPUMODE_MASK) === abi.PERF_RECORD_MISC_KERNEL);
  return new Set(ofKernel.map(({ filename }) => filename).filter((filename) => filename.startsWith('/')));
}

/**
 * Whether memory without a file that is mapped at [start, end) holds the text of the file that was mapped there: this is how programs move their text to huge
 * pages, page by page and to the same addresses (`node --use-largepages`, iodlr). A JIT may use the place of a library that was unloaded, which recordings do
 * not mention, but not in whole huge pages.
 * @param isFile whether a DSO is a file
 */
function isMovedText(space: AddressSpace, start: number, end: number, isFile: (dso: number) => boolean): boolean {
  if (!(end > start) || start % HUGE_PAGE_BYTES !== 0 || end % HUGE_PAGE_BYTES !== 0) return false;
  const under = space.rangeAt(start);
  return under !== undefined && under.end >= end && isFile(under.dso);
}

/**
 * The memory without a file between a part of a file that has just been mapped at `start` and an earlier part, if it is just where the file's bytes between the
 * two would be: that is what text looks like that was moved before the recording began. Undefined if there is none.
 * @param isFile whether a DSO is a file
 */
function movedTextBefore(space: AddressSpace, start: number, isFile: (dso: number) => boolean): { readonly start: number; readonly end: number } | undefined {
  const after = space.rangeAt(start);
  const moved = space.rangeAt(start - 1);
  if (after === undefined || moved === undefined || isFile(moved.dso)) return undefined;
  const before = space.rangeAt(moved.start - 1);
  return before?.dso === after.dso && before.delta === after.delta && moved.start % HUGE_PAGE_BYTES === 0 && moved.end % HUGE_PAGE_BYTES === 0
    ? moved
    : undefined;
}
