import { bitsAt, lastBitOf } from './bits.ts';
import type { BlockAreas, BlockCore } from './block-core.ts';
import { zstdError } from './frames.ts';
import { readFseShares } from './fse.ts';
import { MAX_ACCURACY_LOG, MAX_SYMBOLS, NO_CODES, NO_TREE, WEIGHT_TOO_LARGE, WEIGHTS_TABLE } from './wasm/contract.ts';

/** Source: RFC 8878, 4.2.1. */
const MAX_WEIGHTS_ACCURACY_LOG = 6;
/** The weight of the last symbol is not written. */
const MAX_WEIGHTS = MAX_SYMBOLS - 1;
/** If the first byte is at least this, it counts weights of four bits each. */
const PLAIN_WEIGHTS = 128;

const DAMAGE = new Map([
  [WEIGHT_TOO_LARGE, 'a Huffman code has too large a weight'],
  [NO_CODES, 'a Huffman table without codes'],
  [NO_TREE, 'the weights of a Huffman table do not form a tree'],
]);

/**
 * Reads the description of a Huffman table from the block: a weight for each symbol but the last, whose weight follows from the sum. Then lays out the table.
 * Source: RFC 8878, 4.2.1.
 * @returns where the description ends
 * @throws PerfconvError `damaged`
 */
export function readHuffmanTable(core: BlockCore, at: number, end: number): number {
  if (at >= end) throw zstdError('the description of a Huffman table is cut off');
  const header = core.areas.block[at];
  const start = at + 1;
  const sizeBytes = header < PLAIN_WEIGHTS ? header : (header - PLAIN_WEIGHTS + 2) >> 1;
  const weightsEnd = start + sizeBytes;
  if (weightsEnd > end) throw zstdError('the description of a Huffman table is cut off');
  const count = header < PLAIN_WEIGHTS ? readCompressedWeights(core, start, weightsEnd) : readPlainWeights(core.areas, start, header - PLAIN_WEIGHTS + 1);
  const outcome = core.loops.buildHuffmanTable(count);
  if (outcome < 0) throw zstdError(DAMAGE.get(outcome) ?? '');
  return weightsEnd;
}

function readPlainWeights({ block, weights }: BlockAreas, start: number, count: number): number {
  for (let i = 0; i < count; i++) {
    const pair = block[start + (i >> 1)];
    weights[i] = i % 2 === 0 ? pair >> 4 : pair & 15;
  }
  return count;
}

/** Reads weights that are coded with two interleaved states of one entropy table, from the last bit backward until the bits run out. */
function readCompressedWeights({ areas, loops }: BlockCore, start: number, end: number): number {
  const { block, blockView, fseEntries, shares, weights } = areas;
  const { symbolCount, accuracyLog, end: streamStart } = readFseShares(block, start, end, MAX_WEIGHTS_ACCURACY_LOG, MAX_WEIGHTS, shares);
  loops.buildFseTable(WEIGHTS_TABLE, symbolCount, accuracyLog);
  const entries = fseEntries.subarray(WEIGHTS_TABLE << MAX_ACCURACY_LOG);
  const firstBit = streamStart * 8;
  let bit = lastBitOf(block, streamStart, end) - accuracyLog;
  let state = bitsAt(blockView, bit, accuracyLog);
  bit -= accuracyLog;
  let nextState = bitsAt(blockView, bit, accuracyLog);
  if (bit < firstBit) throw zstdError('the weights of a Huffman table are cut off');
  let count = 0;
  for (;;) {
    if (count > MAX_WEIGHTS - 2) throw zstdError('a Huffman table has too many weights');
    const entry = entries[state];
    weights[count++] = entry;
    const bits = (entry >>> 8) & 0xff;
    bit -= bits;
    state = nextState;
    if (bit < firstBit) {
      weights[count++] = entries[state];
      return count;
    }
    nextState = (entry >>> 16) + bitsAt(blockView, bit, bits);
  }
}
