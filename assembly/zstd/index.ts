/** The module of src/zstd/: loops over the blocks of a stream. See `BlockLoops` of src/zstd/block-core.ts. */

export { buildFseTable, buildHuffmanTable, decodeHuffman } from './entropy';
export { block, fseEntries, growWindow, initialize, lengthCodes, shares, weights, window } from './memory';
export { executeSequences, startFrame, useTable } from './sequences';
