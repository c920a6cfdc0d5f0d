import type { JitDump } from '../../jitdump/jitdump.ts';
import type { UnwindMachine } from '../../unwind/machines/unwind-machine.ts';
import type { CodeExtent, CodeMatch, CodeSpace, RuleKeeper } from '../../unwind/modules/code-space.ts';
import type { UnwindModule } from '../../unwind/modules/unwind-module.ts';
import type { AddressSpace } from '../processes/address-space.ts';
import type { Dso } from '../processes/dsos.ts';
import { JitModules } from './jit-modules.ts';
import type { UnwindFile, UnwindSegment } from './unwind-files.ts';

/** Stands for no segment: nothing lies in it. */
const NOWHERE: UnwindSegment = { start: 0, end: 0, delta: 0 };

/** What an unwinder asks about a process's address space: the rules of the code that is mapped at an address. */
export class MappedCode implements CodeSpace {
  module: UnwindModule | undefined;
  bias = 0;
  codeBias = 0;
  mayBeData = false;
  isVdso = false;
  file = -1;
  /** The rules that take precedence, if there are any. */
  keptRules: RuleKeeper | undefined;
  #space: AddressSpace | undefined;
  #machine: UnwindMachine = 'x86_64';
  readonly #jitModules: JitModules;
  readonly #dsos: readonly Dso[];
  /** By DSO: its rules; null if it has none, undefined until they are loaded. */
  readonly #files: (UnwindFile | null | undefined)[] = [];
  /** By DSO: the segment in which the last address was. */
  readonly #segments: (UnwindSegment | undefined)[] = [];

  /** Where perf takes the DSOs of a process to begin; undefined if they begin where they are mapped. */
  readonly #perfBases: PerfBases | undefined;

  /**
   * @param dsos of the session; it grows
   * @param jitDumps of the session, by DSO; they grow
   * @param compatPerf look rules up where perf 6.1 does
   */
  constructor(dsos: readonly Dso[], jitDumps: ReadonlyMap<number, JitDump>, compatPerf: boolean) {
    this.#dsos = dsos;
    this.#jitModules = new JitModules(jitDumps);
    this.#perfBases = compatPerf ? new PerfBases() : undefined;
  }

  /** Turns to the process of the next stack, for which no rules take precedence at first. */
  enter(space: AddressSpace, machine: UnwindMachine): void {
    this.#space = space;
    this.#machine = machine;
    this.keptRules = undefined;
  }

  get machine(): UnwindMachine {
    return this.#machine;
  }

  get generation(): number | undefined {
    return this.#space?.generation;
  }

  /** The map at an address; of a file that is loaded, the part that is in one of its segments, and in no other. */
  extent(address: number): CodeExtent | undefined {
    const range = this.#space?.wholeMapAt(address);
    if (range === undefined) return undefined;
    const file = this.#files[range.dso];
    if (file === undefined || file === null) return this.#mayHaveFile(range.dso) ? undefined : range;
    const { delta } = range;
    // Sums of larger numbers are rounded, differently for each address.
    if (!Number.isSafeInteger(delta) || !Number.isSafeInteger(range.end + delta)) return undefined;
    const own = file.segments.filter(({ start, end }) => start < range.end + delta && end > range.start + delta);
    const segment = own.find(({ start, end }) => address + delta >= start && address + delta < end);
    if (segment === undefined || !Number.isSafeInteger(segment.delta)) return undefined;
    const start = Math.max(range.start, segment.start - delta);
    const end = Math.min(range.end, segment.end - delta);
    const isShared = own.some((other) => other !== segment && other.start - delta < end && other.end - delta > start);
    return isShared ? undefined : { start, end };
  }

  find(address: number): CodeMatch {
    // hot
    for (let maps = this.#space; maps !== undefined; maps = maps.fallback) {
      const at = maps.find(address);
      if (at < 0) continue;
      const dso = maps.dsoAt(at);
      this.file = dso;
      const file = this.#files[dso];
      if (file === undefined && this.#mayHaveFile(dso)) return 'pending';
      if (file === undefined || file === null) return this.#findWithoutFile(dso, address, address + maps.deltaAt(at));
      return this.#locate(file, dso, address, address + maps.deltaAt(at));
    }
    return this.#findNothing();
  }

  #findNothing(): CodeMatch {
    this.module = undefined;
    this.file = -1;
    return 'unmapped';
  }

  /** Looks up memory of no file, or of one without rules, such as a JIT's dump: it is code that the JIT made, or data. */
  #findWithoutFile(dso: number, address: number, offset: number): CodeMatch {
    const { codeStart, kind, name } = this.#dsos[dso];
    // With stacks, perf also records the maps of data: what is found there is not a return address. perf 6.1 takes it for one (observed).
    this.mayBeData = codeStart === Number.POSITIVE_INFINITY && this.#perfBases === undefined;
    this.isVdso = kind === 'vdso';
    // JITs first map memory for data. A stack is not such memory.
    if (this.mayBeData && (kind !== 'anon' || name === '[stack]')) return this.#findNothing();
    // Svmas of code that a JIT made are run-time addresses.
    this.module = this.#jitModules.isEmpty ? undefined : this.#jitModules.moduleAt(dso, address, offset, this.#machine);
    this.bias = 0;
    this.codeBias = 0;
    return 'found';
  }

  /** Sets what was loaded of a DSO. */
  setFile(dso: number, file: UnwindFile | undefined): void {
    this.#files[dso] = file ?? null;
  }

  #mayHaveFile(dso: number): boolean {
    const { kind } = this.#dsos[dso];
    return kind === 'file' || kind === 'vdso';
  }

  #locate(file: UnwindFile, dso: number, address: number, offset: number): CodeMatch {
    // hot
    this.module = undefined;
    this.mayBeData = false;
    this.isVdso = false;
    let segment = this.#segments[dso] ?? NOWHERE;
    if (offset < segment.start || offset >= segment.end) {
      segment = file.segments.find(({ start, end }) => offset >= start && offset < end) ?? NOWHERE;
      if (segment === NOWHERE) return this.#perfBases === undefined && isFilledUp(file, offset) ? this.#findNothing() : 'found';
      this.#segments[dso] = segment;
    }
    this.codeBias = address - offset - segment.delta;
    this.bias = this.#perfBases?.biasOf(file, dso, this.#space) ?? this.codeBias;
    // perf 6.1 finds rules only by an `.eh_frame_hdr`, and ends at the first frame without one (observed on x86-64).
    if (this.#perfBases !== undefined && this.#machine === 'x86_64' && !this.#findsTable(file.module)) return 'found';
    this.module = file.module;
    return 'found';
  }

  /**
   * Whether perf finds an `.eh_frame_hdr`: an empty one always; one with entries only if a recorded map holds its address, because perf reads entries by
   * address. Maps of data are not always recorded.
   */
  #findsTable({ frameTable }: UnwindModule): boolean {
    if (frameTable === undefined || frameTable.count === 0) return frameTable !== undefined;
    for (let maps = this.#space; maps !== undefined; maps = maps.fallback) if (maps.find(frameTable.addr + this.bias) >= 0) return true;
    return false;
  }
}

/** Files are mapped in pages: the first address is rounded down to a page. */
const PAGE_BYTES = 4096;

/** Whether an offset is after a segment, in its last page: the program's zero-initialized variables are there, or nothing. */
function isFilledUp({ segments }: UnwindFile, offset: number): boolean {
  return segments.some(({ end }) => offset >= end && offset < Math.ceil(end / PAGE_BYTES) * PAGE_BYTES);
}

/**
 * Where perf 6.1 takes a file to be mapped: where it would begin if all of it were mapped as its part with the lowest address is. Parts left over from before an
 * exec count, too: then perf finds no rules, or wrong ones, as in files whose first segment is not at their beginning (observed).
 */
class PerfBases {
  /** By DSO: the generation of the space that {@link #biases} is for. */
  readonly #generations: number[] = [];
  /** By DSO; undefined if it is not mapped. */
  readonly #biases: (number | undefined)[] = [];
  /** By DSO: the first address in its module. */
  readonly #firstAddresses: number[] = [];

  biasOf({ segments }: UnwindFile, dso: number, space: AddressSpace | undefined): number | undefined {
    // hot
    if (space === undefined || space.generation === this.#generations[dso]) return this.#biases[dso];
    this.#firstAddresses[dso] ??= Math.min(...segments.map(({ start, delta }) => start + delta));
    const first = this.#firstAddresses[dso];
    const lowest = space.firstOf(dso);
    const range = lowest === undefined ? undefined : space.rangeAt(lowest);
    this.#generations[dso] = space.generation;
    this.#biases[dso] = range && -range.delta - (first - (first % PAGE_BYTES));
    return this.#biases[dso];
  }
}
