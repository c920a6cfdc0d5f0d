/** Memory that blocks of zstd are decoded in. Places are counted from the start of each area. */
export interface BlockAreas {
  /** The current block, with padding on both sides, then room for its literals: see `BLOCK_AREA_BYTES`. */
  readonly block: Uint8Array;
  /** Over {@link block}. */
  readonly blockView: DataView;
  /** By symbol, for {@link BlockLoops.buildFseTable}, which overwrites them: see `LESS_THAN_ONE`. */
  readonly shares: Int16Array;
  /** By symbol, for {@link BlockLoops.buildHuffmanTable}. */
  readonly weights: Uint8Array;
  /** All entropy tables, `2 ** MAX_ACCURACY_LOG` entries each: `symbol | bits << 8 | base << 16`; the next state is base + the next `bits` bits. */
  readonly fseEntries: Uint32Array;
  /** What was decompressed. */
  readonly window: Uint8Array;
}

/** The loops over that memory. What they are given has been checked: places, sizes and shares. They check what the bits stand for. */
export interface BlockLoops {
  /** Forgets which offsets matches may repeat. */
  startFrame(): void;

  /** Lays out an entropy table from {@link BlockAreas.shares}, which sum up to 2 to the power of `accuracyLog`. */
  buildFseTable(table: number, symbolCount: number, accuracyLog: number): void;

  /** Has the next sequences use a table for one kind of codes, until it is called again. */
  useTable(kind: number, table: number, accuracyLog: number): void;

  /**
   * Lays out the Huffman table from {@link BlockAreas.weights}; it completes them by the weight of the last symbol, which follows from the others.
   * @param count how many weights there are
   * @returns how many bits the longest code has; below 0 why the weights make no table
   */
  buildHuffmanTable(count: number): number;

  /**
   * Decodes a stream of Huffman codes, which is read from its last bit backward.
   * @param firstBit of the stream, in the block
   * @param endBit behind its last bit
   * @param from place of the first literal, in the block's area
   * @returns 0 unless it ends exactly with its last symbol
   */
  decodeHuffman(firstBit: number, endBit: number, from: number, to: number): number;

  /**
   * Executes the sequences of a block, by the tables in use: so many literals, then so much of what came before, and at last the literals that are left.
   * @param endBit behind the last bit of the sequences, which are read backward
   * @param literals place of the first literal, in the block's area
   * @param start where in the window the block begins
   * @param reach how many bytes before that matches may reach back to
   * @returns how many bytes the block has; below 0 what is wrong
   */
  executeSequences(
    count: number,
    firstBit: number,
    endBit: number,
    literals: number,
    literalsEnd: number,
    start: number,
    reach: number,
    maxBlockBytes: number,
  ): number;
}

/** What a decoder of blocks has the most work done by: there is one in WebAssembly and one in JavaScript. */
export interface BlockCore {
  /** Others after {@link growWindow}. */
  readonly areas: BlockAreas;
  readonly loops: BlockLoops;
  /** Makes the window longer. @throws RangeError when there is no memory */
  growWindow(sizeBytes: number): void;
}
