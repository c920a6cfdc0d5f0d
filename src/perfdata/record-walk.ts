import type { RecordingSource } from '../bytes/byte-source.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { PerfconvError } from '../errors.ts';
import * as abi from './constants.ts';
import type { RecordingHeader } from './file-header.ts';
import { RecordStream } from './framing.ts';
import { NestedRecords } from './nested-records.ts';
import { RECORD_HEADER_BYTES, type RecordCursor } from './record-cursor.ts';
import { SP_SPLIT, SP_SPLIT_END, SP_TRACING_DATA } from './simpleperf-constants.ts';
import { SplitRecords } from './simpleperf-split.ts';
import { openZstdStream } from './zstd-open.ts';
import type { OpenZstdStream, ZstdStream } from './zstd-stream.ts';

/** Sees the records of a recording one after the other, those inside compressed data behind the record that carries them. */
export interface RecordVisitor {
  /** Looks at a record where it lies: its bytes are gone afterwards. */
  visit(record: RecordCursor): void;
  /** Takes the bytes of TRACING_DATA, after the record itself was seen. */
  visitTracingData(bytes: Uint8Array, fileOffset: number): void;
  /**
   * Of a directory recording, whose files were written side by side: what was visited since the last call came from
   * part `part`. Without this method the parts are walked one after the other.
   * @param isLast whether the part ends here
   * @returns the newest time seen in the part so far: the part that is furthest behind is read on
   */
  endPiece?(part: number, isLast: boolean): number;
}

export interface WalkOptions {
  /** Opens the decompressor of COMPRESSED records; without it, our own in JavaScript is used. */
  readonly openZstd?: OpenZstdStream;
  /** Called now and then with the number of bytes read, of all parts. */
  readonly onProgress?: (bytes: number) => void;
}

const PART_CHUNK_BYTES = 1 << 20;

/**
 * Visits all records of a recording: those of the file itself, then those of a directory's other files.
 * What is damaged or missing goes to `diagnostics`; all that is whole is visited.
 */
export async function walkRecords(
  source: RecordingSource,
  header: RecordingHeader,
  visitor: RecordVisitor,
  options: WalkOptions,
  diagnostics: Diagnostics,
): Promise<void> {
  let doneBytes = 0;
  const progress = (bytes: number): void => {
    doneBytes += bytes;
    options.onProgress?.(doneBytes);
  };
  const main = new PartWalk(new RecordStream(source, header.dataStart, header.dataEnd, header.littleEndian, diagnostics), visitor, options, diagnostics);
  if (header.mode === 'pipe') main.mayHaveLegacyHeaders = true;
  progress(header.dataStart);
  await main.toEnd(progress);
  const parts = (source.parts ?? []).map((part) => {
    const chunkBytes = Math.max(PART_CHUNK_BYTES >> 3, Math.floor((PART_CHUNK_BYTES * 16) / (source.parts?.length ?? 1)));
    const stream = new RecordStream(part, 0, part.sizeBytes ?? Number.POSITIVE_INFINITY, header.littleEndian, diagnostics, chunkBytes);
    return new PartWalk(stream, visitor, options, diagnostics);
  });
  if (visitor.endPiece === undefined) {
    for (const part of parts) await part.toEnd(progress);
    return;
  }
  await walkSideBySide(parts, (part, isLast) => visitor.endPiece?.(part, isLast) ?? 0, progress);
}

/** Walks parts a piece at a time, always the one whose newest record is the oldest. */
async function walkSideBySide(
  parts: readonly PartWalk[],
  endPiece: (part: number, isLast: boolean) => number,
  progress: (bytes: number) => void,
): Promise<void> {
  const newest = parts.map(() => Number.NEGATIVE_INFINITY);
  const open = new Set(parts.keys());
  while (open.size > 0) {
    let next = -1;
    for (const part of open) if (next < 0 || newest[part] < newest[next]) next = part;
    const hasMore = await parts[next].piece(progress);
    newest[next] = endPiece(next, !hasMore);
    if (!hasMore) open.delete(next);
  }
}

/** One file's records, with what they carry. */
class PartWalk {
  mayHaveLegacyHeaders = false;
  readonly #stream: RecordStream;
  readonly #visitor: RecordVisitor;
  readonly #options: WalkOptions;
  readonly #diagnostics: Diagnostics;
  #zstd: ZstdStream | undefined;
  #isZstdBroken = false;
  /** What the file's compressed data decompresses to: one stream of records. */
  #decompressed: NestedRecords | undefined;
  readonly #splits: SplitRecords;
  /** The records that simpleperf cut into pieces, joined again. */
  #joined: NestedRecords | undefined;

  constructor(stream: RecordStream, visitor: RecordVisitor, options: WalkOptions, diagnostics: Diagnostics) {
    this.#stream = stream;
    this.#visitor = visitor;
    this.#options = options;
    this.#diagnostics = diagnostics;
    this.#splits = new SplitRecords(diagnostics);
  }

  async toEnd(progress: (bytes: number) => void): Promise<void> {
    while (await this.piece(progress));
  }

  /** Walks as far as one read goes. @returns false at the end */
  async piece(progress: (bytes: number) => void): Promise<boolean> {
    const stream = this.#stream;
    const visitor = this.#visitor;
    const before = stream.position;
    const hasRecords = await stream.fill();
    while (stream.next()) {
      if (stream.type >= abi.PERF_RECORD_USER_TYPE_START) {
        if (this.mayHaveLegacyHeaders) this.#decideDialect();
        visitor.visit(stream);
        // Not awaited without need: most of them carry nothing.
        if (CARRIERS.has(stream.type)) await this.#unpack();
      } else {
        visitor.visit(stream);
      }
    }
    progress(stream.position - before);
    if (!hasRecords) {
      this.#endDecompressed();
      this.#splits.finish();
    }
    return hasRecords;
  }

  /** The first record of the numbers in question tells: a header string is exactly as long as it says. */
  #decideDialect(): void {
    const { type, view, offset, size } = this.#stream;
    if (!abi.isLegacyHeaderType(type)) return;
    this.mayHaveLegacyHeaders = false;
    if (type !== abi.LEGACY_HEADER_HOSTNAME || size < 12 || view.u32(offset + 8) + 12 !== size) return;
    this.#stream.hasLegacyHeaders = true;
    this.#stream.type += abi.LEGACY_HEADER_OFFSET;
  }

  /** Takes what the current record carries besides its own fields. */
  async #unpack(): Promise<void> {
    const stream = this.#stream;
    const { type, view, offset, size, fileOffset } = stream;
    const body = offset + RECORD_HEADER_BYTES;
    const end = offset + size;
    switch (type) {
      case abi.PERF_RECORD_HEADER_TRACING_DATA: {
        if (size < RECORD_HEADER_BYTES + 4) return;
        const bytes = view.u32(body);
        // simpleperf puts them inside the record, perf behind it.
        const isInside = bytes <= size - RECORD_HEADER_BYTES - 4 && bytes > 0;
        const data = isInside ? view.bytes.slice(body + 4, body + 4 + bytes) : await stream.takePayload(bytes, 'PERF_RECORD_TRACING_DATA');
        if (data !== undefined) this.#visitor.visitTracingData(data, fileOffset);
        return;
      }
      case abi.PERF_RECORD_AUXTRACE:
        if (size >= RECORD_HEADER_BYTES + 8) stream.skipPayload(view.u64(body));
        return;
      case abi.PERF_RECORD_COMPRESSED:
        return this.#decompress(view.bytes.subarray(body, end), fileOffset);
      case abi.PERF_RECORD_COMPRESSED2: {
        if (size < RECORD_HEADER_BYTES + 8) return;
        const bytes = Math.min(view.u64(body), size - RECORD_HEADER_BYTES - 8);
        return this.#decompress(view.bytes.subarray(body + 8, body + 8 + bytes), fileOffset);
      }
      default:
        this.#unpackSimpleperf(stream);
    }
  }

  /** What simpleperf's own records carry lies inside them, however large. */
  #unpackSimpleperf({ type, view, offset, size, fileOffset }: RecordCursor): void {
    const body = offset + RECORD_HEADER_BYTES;
    const end = offset + size;
    if (type === SP_SPLIT) {
      this.#splits.add(view.bytes.subarray(body, end), fileOffset);
    } else if (type === SP_SPLIT_END) {
      const whole = this.#splits.end(fileOffset);
      if (whole === undefined) return;
      this.#joined ??= new NestedRecords(view.littleEndian, this.#diagnostics);
      this.#joined.append(whole, fileOffset);
      this.#visitNested(this.#joined);
    } else if (type === SP_TRACING_DATA && size >= RECORD_HEADER_BYTES + 4) {
      const bytes = Math.min(view.u32(body), end - body - 4);
      this.#visitor.visitTracingData(view.bytes.slice(body + 4, body + 4 + bytes), fileOffset);
    }
  }

  async #decompress(bytes: Uint8Array, fileOffset: number): Promise<void> {
    if (this.#isZstdBroken) {
      this.#diagnostics.addBytes('zstd-damaged', 'loss', '', fileOffset, bytes.length);
      return;
    }
    this.#decompressed ??= new NestedRecords(this.#stream.view.littleEndian, this.#diagnostics);
    const records = this.#decompressed;
    try {
      this.#zstd ??= await (this.#options.openZstd ?? openZstdStream)();
      await this.#zstd.push(bytes, (piece) => {
        records.append(piece, fileOffset);
        this.#visitNested(records);
      });
    } catch (error) {
      if (!(error instanceof PerfconvError) || error.code !== 'damaged') throw error;
      // A stream cannot be taken up again in its middle: each block builds on those before.
      this.#isZstdBroken = true;
      this.#diagnostics.addBytes(
        'zstd-damaged',
        'loss',
        `compressed records are damaged (${error.message}): those from there on are lost`,
        fileOffset,
        bytes.length,
      );
    }
  }

  #visitNested(records: NestedRecords): void {
    while (records.next()) {
      if (records.type === abi.PERF_RECORD_AUXTRACE && records.size >= RECORD_HEADER_BYTES + 8) {
        this.#visitor.visit(records);
        records.skipPayload(records.view.u64(records.offset + RECORD_HEADER_BYTES));
      } else {
        this.#visitor.visit(records);
        if (records.type >= abi.SIMPLEPERF_TYPE_START) this.#unpackSimpleperf(records);
      }
    }
  }

  #endDecompressed(): void {
    const records = this.#decompressed;
    if (records === undefined) return;
    while (records.end()) this.#visitNested(records);
    if (records.pendingBytes > 0 && !this.#isZstdBroken) {
      this.#diagnostics.add(
        'truncated',
        'loss',
        `the compressed records are cut off: their last ${records.pendingBytes} bytes are no whole record`,
        records.fileOffset,
      );
    }
    this.#decompressed = undefined;
    this.#zstd?.close();
    this.#zstd = undefined;
  }
}

/** Records that carry more than their fields. */
const CARRIERS: ReadonlySet<number> = new Set([
  abi.PERF_RECORD_HEADER_TRACING_DATA,
  abi.PERF_RECORD_AUXTRACE,
  abi.PERF_RECORD_COMPRESSED,
  abi.PERF_RECORD_COMPRESSED2,
  SP_SPLIT,
  SP_SPLIT_END,
  SP_TRACING_DATA,
]);
