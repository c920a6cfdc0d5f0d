import type { JitLineColumns } from './jitdump.ts';

/** How long the head before a function's code may be. */
const MAX_HEAD_BYTES = 64;

/** Collects the lines of functions. They come before the code that they belong to, and wait for it after the lines of all functions. */
export class JitLineCollector implements JitLineColumns {
  readonly offsets: number[] = [];
  readonly lines: number[] = [];
  readonly columns: number[] = [];
  readonly files: number[] = [];
  /** Names of files, each once. */
  readonly fileNames: string[] = [];
  fileNamesLength = 0;
  readonly #columns = [this.offsets, this.lines, this.columns, this.files];
  readonly #fileIndexes = new Map<string, number>();
  /** Address of the code whose lines wait; NaN if none do. */
  #waitingAddr = Number.NaN;
  #end = 0;

  /** How many lines belong to functions. */
  get end(): number {
    return this.#end;
  }

  /** Makes the lines that are added next wait for the code at an address. Those that wait already belong to no code. */
  begin(codeAddr: number): void {
    this.drop();
    this.#waitingAddr = codeAddr;
  }

  /** @param file an index of {@link internFile} */
  add(offset: number, line: number, column: number, file: number): void {
    this.offsets.push(offset);
    this.lines.push(line);
    this.columns.push(column);
    this.files.push(file);
  }

  /**
   * Leaves out a first line that is for something shortly before the code. Erlang has one for the head of each function, where nothing is ever sampled
   * (observed: OTP 25, 40 to 50 bytes before).
   */
  #leaveOutHead(): void {
    const offset = this.offsets[this.#end];
    if (!(offset < 0 && offset >= -MAX_HEAD_BYTES)) return;
    for (const column of this.#columns) column.splice(this.#end, 1);
  }

  /**
   * Gives the waiting lines to the function whose code comes next, in the order of its code. Lines outside of the code show that the entries were not read as
   * they were written, so none of them can be trusted (observed: Node 20 sometimes writes other file names than it has counted).
   * @returns false if lines are outside of the code
   */
  take(codeAddr: number, sizeBytes: number): boolean {
    const { offsets } = this;
    this.#leaveOutHead();
    const isMeant = this.#waitingAddr === codeAddr;
    let isAscending = true;
    let isInside = true;
    for (let row = this.#end; isMeant && row < offsets.length; row++) {
      if (!(offsets[row] >= 0 && offsets[row] <= sizeBytes)) isInside = false;
      if (row > this.#end && offsets[row] < offsets[row - 1]) isAscending = false;
    }
    if (!isMeant || !isInside) {
      this.drop();
      return isInside;
    }
    if (!isAscending) this.#sort();
    this.#end = offsets.length;
    this.#waitingAddr = Number.NaN;
    return true;
  }

  /** Discards the waiting lines. */
  drop(): void {
    for (const column of this.#columns) column.length = this.#end;
    this.#waitingAddr = Number.NaN;
  }

  internFile(name: string): number {
    const known = this.#fileIndexes.get(name);
    if (known !== undefined) return known;
    this.#fileIndexes.set(name, this.fileNames.length);
    this.fileNamesLength += name.length;
    return this.fileNames.push(name) - 1;
  }

  #sort(): void {
    const from = this.#end;
    const { offsets } = this;
    const order = Uint32Array.from({ length: offsets.length - from }, (_, i) => from + i).sort((a, b) => offsets[a] - offsets[b] || a - b);
    for (const column of this.#columns) {
      const values = Array.from(order, (row) => column[row]);
      for (let i = 0; i < values.length; i++) column[from + i] = values[i];
    }
  }
}
