import { PerfconvError } from '../base/problems/errors.ts';
import type { SourceFrame, SourceFunction, SourceLines } from '../symbol-table/code-symbols.ts';
import type { GoFunctions } from './go-functions.ts';
import type { FunctionPositions, GoTable, NoteDamage } from './go-table.ts';
import type { InlinedCalls } from './inline-calls.ts';
import { StepBudget, ValueTable } from './value-table.ts';

/** Go inlines some ten functions into one another. A hostile file's calls may form a circle. */
const MAX_DEPTH = 256;
/** How many times the table's size everything that is decoded may have together, how much in any case, and how much at most. */
const MAX_SHARING = 16;
const FREE_STEPS = 1 << 20;
const MAX_STEPS = 2 ** 30;
const MAX_NAME_SIZE_BYTES = 1 << 16;

/** Functions, files and lines, as Go's runtime knows them. It has no columns. */
export class GoLines implements SourceLines {
  readonly #table: GoTable;
  readonly #functions: GoFunctions;
  readonly #calls: InlinedCalls | undefined;
  readonly #toSvma: (address: number) => number;
  readonly #noteDamage: NoteDamage;
  #isDamaged = false;
  readonly #files: ValueTable;
  readonly #lines: ValueTable;
  readonly #inlined: ValueTable;
  /** The function whose values were read last. */
  #function = -1;
  #positions: FunctionPositions | undefined;
  readonly #texts = new Map<number, string>();
  /** By place of the name, line and file. */
  readonly #described = new Map<string, SourceFunction>();

  /**
   * @param calls undefined if nothing was inlined
   * @param toSvma translates an address that is looked up; NaN if it has none
   */
  constructor(functions: GoFunctions, calls: InlinedCalls | undefined, toSvma: (address: number) => number, noteDamage: NoteDamage) {
    const { table } = functions;
    this.#table = table;
    this.#functions = functions;
    this.#calls = calls;
    this.#toSvma = toSvma;
    this.#noteDamage = noteDamage;
    const budget = new StepBudget(table, Math.min(MAX_STEPS, MAX_SHARING * table.view.length + FREE_STEPS));
    this.#files = new ValueTable(table, budget);
    this.#lines = new ValueTable(table, budget);
    this.#inlined = new ValueTable(table, budget);
  }

  async lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void> {
    const functions = this.#functions;
    for (let i = 0; i < addresses.length; i++) {
      // hot
      const svma = this.#toSvma(addresses[i]);
      const index = Number.isNaN(svma) ? -1 : functions.find(svma);
      if (index < 0) continue;
      const frames = this.#framesIn(index, svma - functions.starts[index]);
      if (frames !== undefined) visit(i, frames);
    }
  }

  /** @returns undefined for a function whose values are damaged */
  #framesIn(index: number, distance: number): SourceFrame[] | undefined {
    try {
      return this.#readFrames(index, distance);
    } catch (error) {
      if (!(error instanceof PerfconvError)) throw error;
      if (!this.#isDamaged) this.#noteDamage(error);
      this.#isDamaged = true;
      return undefined;
    }
  }

  #readFrames(index: number, distance: number): SourceFrame[] {
    const positions = this.#read(index);
    const frames: SourceFrame[] = [];
    let at = distance;
    while (frames.length < MAX_DEPTH) {
      const inlined = this.#inlined.at(at);
      const call = inlined < 0 ? undefined : this.#calls?.at(positions.inlineTree, inlined);
      if (call === undefined) break;
      frames.push(this.#frame(call.nameAt, call.startLine, at, positions));
      at = call.parent;
    }
    frames.push(this.#frame(this.#table.nameOf(index), positions.startLine, at, positions));
    return frames;
  }

  #read(index: number): FunctionPositions {
    if (this.#positions !== undefined && this.#function === index) return this.#positions;
    this.#positions = undefined;
    const positions = this.#table.positionsOf(index);
    const sizeBytes = this.#functions.sizeOf(index);
    this.#files.decode(positions.files, sizeBytes);
    this.#lines.decode(positions.lines, sizeBytes);
    this.#inlined.decode(positions.inlineIndexes, sizeBytes);
    this.#function = index;
    this.#positions = positions;
    return positions;
  }

  #frame(nameAt: number, startLine: number, distance: number, { unit }: FunctionPositions): SourceFrame {
    const fileIndex = this.#files.at(distance);
    const fileAt = fileIndex < 0 ? -1 : this.#table.fileNameAt(unit, fileIndex);
    const file = fileAt < 0 ? '' : this.#text(fileAt);
    return { function: this.#functionOf(nameAt, startLine, file), file, line: Math.max(0, this.#lines.at(distance)), column: 0 };
  }

  /** A function is in one file, so the file of its lines is its own. */
  #functionOf(nameAt: number, startLine: number, file: string): SourceFunction {
    const key = `${nameAt} ${startLine} ${file}`;
    let found = this.#described.get(key);
    if (found === undefined) {
      const name = this.#text(nameAt);
      found = { name, linkageName: name, file, startLine };
      this.#described.set(key, found);
    }
    return found;
  }

  #text(at: number): string {
    let text = this.#texts.get(at);
    if (text === undefined) {
      const { view } = this.#table;
      text = view.text(at, Math.min(view.length, at + MAX_NAME_SIZE_BYTES));
      this.#texts.set(at, text);
    }
    return text;
  }
}
