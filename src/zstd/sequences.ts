import { zstdError } from './frames.ts';
import { buildFseTable, type FseTable, readFseTable, singleSymbolTable } from './fse.ts';

/** What a kind of code stands for, and how its table is found when a block does not describe one. */
interface CodeKind {
  readonly maxSymbol: number;
  readonly maxAccuracyLog: number;
  readonly predefined: FseTable;
}

/** Extra bits of the codes of lengths: a code's values begin where those of the code before it end. Source: RFC 8878, 3.1.1.3.2.1. */
const LITERALS_LENGTH_BITS = [...Array<number>(16).fill(0), 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const MATCH_LENGTH_BITS = [...Array<number>(32).fill(0), 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const MIN_MATCH = 3;

/** By code, `extra bits | first value << 8`. */
export const LITERALS_LENGTHS = firstValues(LITERALS_LENGTH_BITS, 0);
export const MATCH_LENGTHS = firstValues(MATCH_LENGTH_BITS, MIN_MATCH);

/** Source: RFC 8878, 3.1.1.3.2.2. */
const LITERALS_LENGTH_SHARES = [4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1];
const MATCH_LENGTH_SHARES = [1, 4, 3, 2, 2, 2, 2, 2, 2, ...Array<number>(37).fill(1), ...Array<number>(7).fill(-1)];
const OFFSET_SHARES = [1, 1, 1, 1, 1, 1, 2, 2, 2, ...Array<number>(15).fill(1), ...Array<number>(5).fill(-1)];

const LITERALS_LENGTH: CodeKind = { maxSymbol: 35, maxAccuracyLog: 9, predefined: buildFseTable(LITERALS_LENGTH_SHARES, 6) };
const OFFSET: CodeKind = { maxSymbol: 31, maxAccuracyLog: 8, predefined: buildFseTable(OFFSET_SHARES, 5) };
const MATCH_LENGTH: CodeKind = { maxSymbol: 52, maxAccuracyLog: 9, predefined: buildFseTable(MATCH_LENGTH_SHARES, 6) };

const PREDEFINED = 0;
const SINGLE_SYMBOL = 1;
const DESCRIBED = 2;

/** The tables that the sequences of a block are written with. */
export interface SequenceTables {
  readonly literalsLength: FseTable;
  readonly offset: FseTable;
  readonly matchLength: FseTable;
}

/** The head of a block's sequences. */
export interface SequencesHeader {
  readonly count: number;
  /** undefined where there are no sequences. */
  readonly tables: SequenceTables | undefined;
  /** Where the bit stream starts. */
  readonly end: number;
}

/**
 * Reads Sequences_Section_Header: how many there are, and the tables of their codes.
 * Source: RFC 8878, 3.1.1.3.2.1.
 * @param previous what a table that is to be used again is taken from; undefined in a frame's first block with sequences
 * @throws PerfconvError `damaged`
 */
export function readSequencesHeader(bytes: Uint8Array, at: number, end: number, previous: SequenceTables | undefined): SequencesHeader {
  let next = at;
  const take = (): number => {
    if (next >= end) throw zstdError('the sequences of a block are cut off');
    return bytes[next++];
  };
  let count = take();
  if (count === 255) count = take() + take() * 256 + 0x7f00;
  else if (count >= 128) count = (count - 128) * 256 + take();
  if (count === 0) return { count, tables: undefined, end: next };
  const modes = take();
  if ((modes & 3) !== 0) throw zstdError('a reserved bit of the sequences of a block is set');
  const readTable = (mode: number, { maxSymbol, maxAccuracyLog, predefined }: CodeKind, known: FseTable | undefined): FseTable => {
    if (mode === PREDEFINED) return predefined;
    if (mode === SINGLE_SYMBOL) {
      const symbol = take();
      if (symbol > maxSymbol) throw zstdError(`a sequence code of ${symbol}`);
      return singleSymbolTable(symbol);
    }
    if (mode === DESCRIBED) {
      const read = readFseTable(bytes, next, end, maxAccuracyLog, maxSymbol);
      next = read.end;
      return read.table;
    }
    if (known === undefined) throw zstdError('a block uses the table of a block before it, and there is none');
    return known;
  };
  const literalsLength = readTable(modes >> 6, LITERALS_LENGTH, previous?.literalsLength);
  const offset = readTable((modes >> 4) & 3, OFFSET, previous?.offset);
  const matchLength = readTable((modes >> 2) & 3, MATCH_LENGTH, previous?.matchLength);
  return { count, tables: { literalsLength, offset, matchLength }, end: next };
}

function firstValues(extraBits: readonly number[], first: number): Int32Array {
  let value = first;
  return Int32Array.from(extraBits, (bits) => {
    const entry = bits | (value << 8);
    value += 1 << bits;
    return entry;
  });
}
