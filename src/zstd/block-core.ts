/** Memory in which zstd blocks are decoded. Places count from the start of each area. */
export interface BlockAreas {
  /** The current block, with padding on both sides, then room for its literals: see `BLOCK_AREA_BYTES`. */
  readonly block: Uint8Array;
  /** A view of {@link block}. */
  readonly blockView: DataView;
  /** By symbol, for {@link BlockLoops.buildFseTable}, which overwrites them: see `LESS_THAN_ONE`. */
  readonly shares: Int16Array;
  /** By symbol, for {@link BlockLoops.buildHuffmanTable}. */
  readonly weights: Uint8Array;
  /** All entropy tables, `2 ** MAX_ACCURACY_LOG` entries each: `symbol | bits << 8 | base << 16`. The next state is base + the next `bits` bits. */
  readonly fseEntries: Uint32Array;
  /** The decompressed bytes. */
  readonly window: Uint8Array;
}

/** The loops over that memory. Their arguments (places, sizes and shares) have been checked; they check what the bits stand for. */
export interface BlockLoops {
  /** Resets the offsets that matches may repeat. */
  startFrame(): void;

  /** Lays out an entropy table from {@link BlockAreas.shares}, whose sum is 2 to the power of `accuracyLog`. */
  buildFseTable(table: number, symbolCount: number, accuracyLog: number): void;

  /** Makes the following sequences use a table for one kind of codes, until the next call. */
  useTable(kind: number, table: number, accuracyLog: number): void;

  /**
   * Lays out the Huffman table from {@link BlockAreas.weights}; adds the weight of the last symbol, which follows from the others.
   * @param count how many weights there are
   * @returns how many bits the longest code has; if negative, why the weights do not make a table
   */
  buildHuffmanTable(count: number): number;

  /**
   * Decodes a stream of Huffman codes, which is read from its last bit backward.
   * @param firstBit first bit of the stream, in the block
   * @param endBit just after its last bit
   * @param from place of the first literal, in the block's area
   * @returns 0 unless the stream ends exactly with its last symbol
   */
  decodeHuffman(firstBit: number, endBit: number, from: number, to: number): number;

  /**
   * Executes the sequences of a block with the tables in use: each copies some literals, then some of the earlier output. At the end, the remaining literals
   * are copied.
   * @param endBit just after the last bit of the sequences, which are read backward
   * @param literals place of the first literal, in the block's area
   * @param start where in the window the block begins
   * @param reach how many bytes before `start` matches may reach
   * @returns how many bytes the block has; if negative, what is wrong
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

/** Does most of the work of a block decoder. There is one in WebAssembly and one in JavaScript. */
export interface BlockCore {
  /** Replaced by {@link growWindow}. */
  readonly areas: BlockAreas;
  readonly loops: BlockLoops;
  /** Makes the window longer. @throws RangeError when there is no memory */
  growWindow(sizeBytes: number): void;
}
