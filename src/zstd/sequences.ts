import type { BlockCore } from './block-core.ts';
import { zstdError } from './frames.ts';
import { readFseShares } from './fse.ts';
import { LITERALS_LENGTH, LITERALS_LENGTH_CODES, MATCH_LENGTH, MATCH_LENGTH_CODES, MAX_ACCURACY_LOG, OFFSET, PREDEFINED_TABLES } from './wasm/contract.ts';

/** What a kind of codes allows, and its table for blocks that do not describe one. */
interface CodeKind {
  readonly kind: number;
  readonly maxSymbol: number;
  readonly maxAccuracyLog: number;
  readonly predefinedShares: readonly number[];
  readonly predefinedLog: number;
}

/** In the order in which a block describes their tables. Source: RFC 8878, 3.1.1.3.2.1 and 3.1.1.3.2.2. */
const CODE_KINDS: readonly CodeKind[] = [
  {
    kind: LITERALS_LENGTH,
    maxSymbol: LITERALS_LENGTH_CODES - 1,
    maxAccuracyLog: MAX_ACCURACY_LOG,
    predefinedShares: [4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1],
    predefinedLog: 6,
  },
  {
    kind: OFFSET,
    maxSymbol: 31,
    maxAccuracyLog: 8,
    predefinedShares: [1, 1, 1, 1, 1, 1, 2, 2, 2, ...Array<number>(15).fill(1), ...Array<number>(5).fill(-1)],
    predefinedLog: 5,
  },
  {
    kind: MATCH_LENGTH,
    maxSymbol: MATCH_LENGTH_CODES - 1,
    maxAccuracyLog: MAX_ACCURACY_LOG,
    predefinedShares: [1, 4, 3, 2, 2, 2, 2, 2, 2, ...Array<number>(37).fill(1), ...Array<number>(7).fill(-1)],
    predefinedLog: 6,
  },
];

const PREDEFINED = 0;
const SINGLE_SYMBOL = 1;
const DESCRIBED = 2;

/** Reads the Sequences_Section_Header of each block: how many sequences there are, and the tables of their codes. */
export class SequencesHeaders {
  /** How many sequences the current block has. */
  count = 0;
  readonly #core: BlockCore;
  /** Whether a block of the frame had sequences, whose tables later blocks may use. */
  #hasTables = false;

  constructor(core: BlockCore) {
    this.#core = core;
    for (const { kind, predefinedShares, predefinedLog } of CODE_KINDS) {
      core.areas.shares.set(predefinedShares);
      core.loops.buildFseTable(PREDEFINED_TABLES + kind, predefinedShares.length, predefinedLog);
    }
  }

  startFrame(): void {
    this.#hasTables = false;
  }

  /**
   * Makes the core use the block's tables. Source: RFC 8878, 3.1.1.3.2.1.
   * @param at where the section starts in the block's area
   * @param end where the block ends
   * @returns where the bit stream starts
   * @throws PerfconvError `damaged`
   */
  read(at: number, end: number): number {
    const { areas, loops } = this.#core;
    const { block, shares } = areas;
    let next = at;
    const take = (): number => {
      if (next >= end) throw zstdError('the sequences of a block are cut off');
      return block[next++];
    };
    let count = take();
    if (count === 255) count = take() + take() * 256 + 0x7f00;
    else if (count >= 128) count = (count - 128) * 256 + take();
    this.count = count;
    if (count === 0) return next;
    const modes = take();
    if ((modes & 3) !== 0) throw zstdError('a reserved bit of the sequences of a block is set');
    for (const { kind, maxSymbol, maxAccuracyLog, predefinedLog } of CODE_KINDS) {
      const mode = (modes >> (6 - 2 * kind)) & 3;
      if (mode === PREDEFINED) {
        loops.useTable(kind, PREDEFINED_TABLES + kind, predefinedLog);
      } else if (mode === SINGLE_SYMBOL) {
        const symbol = take();
        if (symbol > maxSymbol) throw zstdError(`a sequence code of ${symbol}`);
        // Its only state takes no bits, and leads to itself.
        areas.fseEntries[kind << MAX_ACCURACY_LOG] = symbol;
        loops.useTable(kind, kind, 0);
      } else if (mode === DESCRIBED) {
        const { symbolCount, accuracyLog, end: tableEnd } = readFseShares(block, next, end, maxAccuracyLog, maxSymbol, shares);
        loops.buildFseTable(kind, symbolCount, accuracyLog);
        loops.useTable(kind, kind, accuracyLog);
        next = tableEnd;
      } else if (!this.#hasTables) {
        throw zstdError('a block reuses the table of an earlier block, but there is none');
      }
    }
    this.#hasTables = true;
    return next;
  }
}
