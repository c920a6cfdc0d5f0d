/** What src/zstd/ and assembly/zstd/ have to agree on. Both compile this file. */

/** A block has no more than this, and no more than its frame's window. Source: RFC 8878, 3.1.1.2.4. */
export const MAX_BLOCK_BYTES = 1 << 17;
/** How many bytes are read at most until bits turn out to be missing: words are loaded from before the first bit, and past the last. */
export const PADDING_BYTES = 16;

// The area of a block: the block as it is in the stream, between padding, and then its literals if they have to be decoded.
export const LITERALS_START = PADDING_BYTES + MAX_BLOCK_BYTES + PADDING_BYTES;
export const BLOCK_AREA_BYTES = LITERALS_START + MAX_BLOCK_BYTES;

/** Symbols of an entropy table, each of which has a share, and of a Huffman table, each of which has a weight. */
export const MAX_SYMBOLS = 256;
/** Share of a symbol that occurs less than once in a table's size. It still takes a state. */
export const LESS_THAN_ONE = -1;
/** Of the tables for sequences. The one for weights is smaller. Source: RFC 8878, 3.1.1.3.2.1. */
export const MAX_ACCURACY_LOG = 9;
/** Source: RFC 8878, 4.2.1. */
export const MAX_CODE_BITS = 11;

/** What the codes of a sequence stand for. */
export const LITERALS_LENGTH = 0;
export const OFFSET = 1;
export const MATCH_LENGTH = 2;
/** The entropy tables: for each kind, one that a block describes and one that RFC 8878 predefines; and one for weights. */
export const PREDEFINED_TABLES = 3;
export const WEIGHTS_TABLE = 6;
export const TABLE_COUNT = 7;

/** Both kinds of length codes: `extra bits | first value << 8`. */
export const LITERALS_LENGTH_CODES = 36;
export const MATCH_LENGTH_CODES = 53;

/** 2 to this power is the largest window that is accepted, so larger offset codes cannot be valid. */
export const MAX_OFFSET_CODE = 27;
/** The offsets that the first matches of a frame may repeat. Source: RFC 8878, 3.1.1.5. */
export const FIRST_OFFSET = 1;
export const SECOND_OFFSET = 4;
export const THIRD_OFFSET = 8;

// Why a loop stops, returned instead of the number of bits or bytes.
export const WEIGHT_TOO_LARGE = -1;
export const NO_CODES = -2;
export const NO_TREE = -3;
export const OFFSET_TOO_LARGE = -4;
export const LITERALS_MISSING = -5;
export const BLOCK_TOO_LARGE = -6;
export const MATCH_BEFORE_START = -7;
export const SEQUENCES_CUT_OFF = -8;
export const BITS_LEFT = -9;
