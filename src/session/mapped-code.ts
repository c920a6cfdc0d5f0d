import type { CodeMatch, CodeSpace } from '../unwind/code-space.ts';
import type { UnwindModule } from '../unwind/unwind-module.ts';
import type { AddressSpace } from './address-space.ts';
import type { Dso } from './dsos.ts';
import type { UnwindFile, UnwindSegment } from './unwind-files.ts';

/** Stands for no segment: nothing lies in it. */
const NOWHERE: UnwindSegment = { start: 0, end: 0, delta: 0 };

/** What an unwinder asks of a process's address space: the rules of the code that is mapped at an address. */
export class MappedCode implements CodeSpace {
  module: UnwindModule | undefined;
  bias = 0;
  file = -1;
  /** The process's, to be set before each stack. */
  space: AddressSpace | undefined;
  readonly #dsos: readonly Dso[];
  /** By DSO: its rules, null where it has none; not there before they were loaded. */
  readonly #files: (UnwindFile | null | undefined)[] = [];
  /** By DSO: the segment in which the last address was. */
  readonly #segments: (UnwindSegment | undefined)[] = [];

  /** @param dsos of the session; it grows */
  constructor(dsos: readonly Dso[]) {
    this.#dsos = dsos;
  }

  find(address: number): CodeMatch {
    // hot
    for (let maps = this.space; maps !== undefined; maps = maps.fallback) {
      const at = maps.find(address);
      if (at < 0) continue;
      const dso = maps.dsoAt(at);
      this.file = dso;
      const file = this.#files[dso];
      if (file === undefined) return this.#findNew(dso);
      this.module = undefined;
      if (file !== null) this.#locate(file, dso, address, address + maps.deltaAt(at));
      return 'found';
    }
    this.module = undefined;
    this.file = -1;
    return 'unmapped';
  }

  /** Sets what was loaded of a DSO. */
  setFile(dso: number, file: UnwindFile | undefined): void {
    this.#files[dso] = file ?? null;
  }

  /** Only files have rules. */
  #findNew(dso: number): CodeMatch {
    const { kind } = this.#dsos[dso];
    if (kind === 'file' || kind === 'vdso') return 'pending';
    this.#files[dso] = null;
    this.module = undefined;
    return 'found';
  }

  #locate(file: UnwindFile, dso: number, address: number, offset: number): void {
    // hot
    let segment = this.#segments[dso] ?? NOWHERE;
    if (offset < segment.start || offset >= segment.end) {
      segment = file.segments.find(({ start, end }) => offset >= start && offset < end) ?? NOWHERE;
      if (segment === NOWHERE) return;
      this.#segments[dso] = segment;
    }
    this.module = file.module;
    this.bias = address - offset - segment.delta;
  }
}
