import type { ByteSource, RecordingSource } from '../base/byte-source.ts';
import { ByteView } from '../base/byte-view.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import { RECORD_HEADER_BYTES } from '../base/record-layout.ts';
import { SIMPLEPERF_TYPE_START, SP_SPLIT, SP_SPLIT_END, SP_TRACING_DATA } from '../simpleperf/constants.ts';
import { SplitRecords } from '../simpleperf/split-records.ts';
import { CompressedRecords } from './compressed-records.ts';
import * as abi from './constants.ts';
import type { LateFeatures, RecordingHeader } from './file-header.ts';
import { NestedRecords } from './nested-records.ts';
import type { RecordCursor } from './record-cursor.ts';
import { type RecordRange, RecordStream } from './record-stream.ts';

/** Sees the records of a recording one after another, those inside compressed data after the record that carries them. */
export interface RecordVisitor {
  /** Looks at a record in place: its bytes are gone afterwards. */
  visit(record: RecordCursor): void;
  /** Receives the bytes of TRACING_DATA, after the record itself was seen. */
  visitTracingData(bytes: Uint8Array, fileOffset: number): void;
  /**
   * For a directory recording, whose files were written side by side: called when a piece of part `part` has been visited. Without this method, the parts are
   * walked one after another.
   * @param isLast whether the part ends here
   * @returns the newest time seen in the part so far: the part whose newest record is the oldest is read on
   */
  endPiece?(part: number, isLast: boolean): number;
  /** Whether the visitor waits for something, usually a file: if so after a call of its methods, the walk awaits {@link settle} before it goes on. */
  readonly isBlocked?: boolean;
  /** Waits until {@link isBlocked} is false. Called only while it is true. */
  settle?(): Promise<void>;
  /**
   * Asked now and then whether the visitor cannot accept more: then the walk ends there, as if the recording did.
   * @param readBytes how much has been read of all parts
   * @returns why, for the message; undefined to go on
   */
  whyFull?(readBytes: number): string | undefined;
}

export interface WalkOptions {
  /** Awaited before each COMPRESSED record is unpacked, which may hold a great many records. */
  readonly beforeUnpacking?: () => Promise<void>;
  /** Called now and then with the number of bytes read, of all parts. */
  readonly onProgress?: (bytes: number) => void;
}

/** Bytes of the buffers of a directory's files together, and minimum for each of them. */
const PART_CHUNKS_BYTES = 16 << 20;
const MIN_PART_CHUNK_BYTES = 128 << 10;

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
  const stop = new WalkStop(visitor);
  const progress = (bytes: number): void => {
    stop.readBytes += bytes;
    options.onProgress?.(stop.readBytes);
  };
  const { littleEndian, dataStart, dataEnd, lateFeatures } = header;
  const isPipe = header.mode === 'pipe';
  const shared: SharedByParts = { visitor, stop, options, diagnostics };
  const streamOf = (file: ByteSource, range: Omit<RecordRange, 'littleEndian'>): RecordStream =>
    new RecordStream(file, { littleEndian, ...range }, diagnostics);
  const mainRange = { start: dataStart, end: dataEnd, mayBeFollowed: isPipe, featureTableBytes: lateFeatures?.tableBytes ?? 0 };
  const main = new PartWalk(streamOf(source, mainRange), isPipe, shared);
  const files = source.parts ?? [];
  const maxChunkBytes = Math.max(MIN_PART_CHUNK_BYTES, Math.floor(PART_CHUNKS_BYTES / Math.max(1, files.length)));
  const parts = files.map((file, i) => {
    const range = { start: 0, end: file.sizeBytes ?? Number.POSITIVE_INFINITY, maxChunkBytes, fileName: `data.${i}` };
    return new PartWalk(streamOf(file, range), false, shared);
  });
  progress(dataStart);
  await main.toEnd(progress);
  if (lateFeatures !== undefined) await main.readLateFeatures(lateFeatures);
  if (visitor.endPiece === undefined) {
    for (const part of parts) await part.toEnd(progress);
  } else {
    await walkSideBySide(
      parts,
      async (part, isLast) => {
        const newest = visitor.endPiece?.(part, isLast) ?? 0;
        if (visitor.isBlocked) await visitor.settle?.();
        return newest;
      },
      progress,
    );
  }
  for (const part of [main, ...parts]) part.reportStop();
}

/** Walks parts a piece at a time, always the one whose newest record is the oldest. */
async function walkSideBySide(
  parts: readonly PartWalk[],
  endPiece: (part: number, isLast: boolean) => Promise<number>,
  progress: (bytes: number) => void,
): Promise<void> {
  const newest = parts.map(() => Number.NEGATIVE_INFINITY);
  const open = new Set(parts.keys());
  while (open.size > 0) {
    let next = -1;
    for (const part of open) if (next < 0 || newest[part] < newest[next]) next = part;
    const hasMore = await parts[next].piece(progress);
    newest[next] = await endPiece(next, !hasMore);
    if (!hasMore) open.delete(next);
  }
}

/** Whether a walk stops before the end, because its visitor cannot accept more. */
class WalkStop {
  /** How much has been read of all parts. */
  readBytes = 0;
  /** Why it stopped; undefined until then. */
  reason: string | undefined;
  readonly #visitor: RecordVisitor;

  constructor(visitor: RecordVisitor) {
    this.#visitor = visitor;
  }

  /** Asks the visitor. @returns whether the walk stops here */
  ask(): boolean {
    this.reason ??= this.#visitor.whyFull?.(this.readBytes);
    return this.reason !== undefined;
  }
}

/** What the walks through the files of a recording share. */
interface SharedByParts {
  readonly visitor: RecordVisitor;
  readonly stop: WalkStop;
  readonly options: WalkOptions;
  readonly diagnostics: Diagnostics;
}

/** One file's records, with what they carry. */
class PartWalk {
  /** Whether the records may be those of Google's old pipe dialect: until the first one that tells. */
  #mayHaveLegacyHeaders: boolean;
  readonly #stream: RecordStream;
  readonly #visitor: RecordVisitor;
  readonly #stop: WalkStop;
  readonly #options: WalkOptions;
  readonly #diagnostics: Diagnostics;
  #isAtEnd = false;
  #compressed: CompressedRecords | undefined;
  /** How many times bytes had been left out when the last compressed record came. */
  #gapsBeforeCompressed = 0;
  readonly #splits: SplitRecords;
  /** The records that simpleperf split, joined again. */
  #joined: NestedRecords | undefined;

  /** @param isPipe whether the records are those of a pipe, in any of its dialects */
  constructor(stream: RecordStream, isPipe: boolean, { visitor, stop, options, diagnostics }: SharedByParts) {
    this.#stream = stream;
    this.#mayHaveLegacyHeaders = isPipe;
    this.#visitor = visitor;
    this.#stop = stop;
    this.#options = options;
    this.#diagnostics = diagnostics;
    this.#splits = new SplitRecords(diagnostics);
  }

  /** Reads the features at whose table the walk has ended, a place that the header could not give. */
  async readLateFeatures(lateFeatures: LateFeatures): Promise<void> {
    if (this.#stop.reason !== undefined) return;
    const { position, reached } = this.#stream;
    if (reached === 'unwritten-features') return;
    const rest = reached === 'feature-table' ? await this.#stream.takeRest() : undefined;
    if (rest === undefined) lateFeatures.reportMissing();
    else await lateFeatures.read(rest, position);
  }

  async toEnd(progress: (bytes: number) => void): Promise<void> {
    while (await this.piece(progress));
  }

  /** Reports what is left out, if the walk was stopped before its end. */
  reportStop(): void {
    const { reason } = this.#stop;
    if (reason === undefined || this.#isAtEnd) return;
    const { position, bytesLeft } = this.#stream;
    const message = `the recording was not read to its end: ${reason}`;
    if (bytesLeft === undefined) this.#diagnostics.add('memory-limit', 'loss', message, position);
    else this.#diagnostics.addBytes('memory-limit', 'loss', message, position, bytesLeft);
  }

  /** Walks as far as one read goes. @returns false at the end */
  async piece(progress: (bytes: number) => void): Promise<boolean> {
    const stream = this.#stream;
    const visitor = this.#visitor;
    const before = stream.position;
    const hasRecords = await stream.fill();
    // At the end, nothing would be left out.
    if (hasRecords && this.#stop.ask()) return false;
    while (stream.next()) {
      if (stream.type >= abi.PERF_RECORD_USER_TYPE_START) {
        if (this.#mayHaveLegacyHeaders) this.#decideDialect();
        visitor.visit(stream);
        if (visitor.isBlocked) await visitor.settle?.();
        // Awaited only if needed: most records carry nothing.
        if (CARRIERS.has(stream.type)) {
          await this.#unpack();
          if (visitor.isBlocked) await this.#settleNested();
          if (this.#stop.reason !== undefined) return false;
        }
      } else {
        visitor.visit(stream);
        if (visitor.isBlocked) await visitor.settle?.();
      }
    }
    progress(stream.position - before);
    if (!hasRecords) {
      this.#isAtEnd = true;
      await this.#unpackCutRecord();
      while (this.#compressed?.end(stream.cutRecord !== undefined) === false) await this.#settleNested();
      this.#splits.finish();
    }
    return hasRecords;
  }

  /** The first record with one of these numbers decides: a header string is exactly as long as it says. */
  #decideDialect(): void {
    const { type, view, offset, size } = this.#stream;
    if (!abi.isLegacyHeaderType(type)) return;
    this.#mayHaveLegacyHeaders = false;
    const legacyType = type + abi.LEGACY_HEADER_OFFSET;
    if (!STRING_FEATURES.has(abi.featureOfLegacyHeader(legacyType)) || size < 12 || view.u32(offset + 8) + 12 !== size) return;
    this.#stream.hasLegacyHeaders = true;
    this.#stream.type = legacyType;
  }

  /** Unpacks what the current record carries besides its own fields. */
  async #unpack(): Promise<void> {
    const stream = this.#stream;
    const { type, view, offset, size, fileOffset } = stream;
    const body = offset + RECORD_HEADER_BYTES;
    const end = offset + size;
    switch (type) {
      case abi.PERF_RECORD_HEADER_TRACING_DATA: {
        if (size < RECORD_HEADER_BYTES + 4) return;
        const bytes = view.u32(body);
        // simpleperf puts them inside the record, perf after it.
        const isInside = bytes <= size - RECORD_HEADER_BYTES - 4 && bytes > 0;
        const data = isInside ? view.bytes.slice(body + 4, body + 4 + bytes) : await stream.takePayload(bytes, 'PERF_RECORD_TRACING_DATA');
        if (data !== undefined) this.#visitor.visitTracingData(data, fileOffset);
        return;
      }
      case abi.PERF_RECORD_AUXTRACE:
        if (size >= RECORD_HEADER_BYTES + 8) stream.skipPayloadOf('PERF_RECORD_AUXTRACE', view.u64(body));
        return;
      case abi.PERF_RECORD_COMPRESSED:
      case abi.PERF_RECORD_COMPRESSED2: {
        const packed = packedBytes(type, view, body, end);
        return packed && this.#decompress(packed, fileOffset);
      }
      default:
        this.#unpackSimpleperf(stream);
    }
  }

  /** Unpacks what there is of a compressed record in which the recording ends: it may hold whole records. */
  async #unpackCutRecord(): Promise<void> {
    const { cutRecord, position, view } = this.#stream;
    if (cutRecord === undefined) return;
    const record = new ByteView(cutRecord, view.littleEndian);
    const type = record.u32(0);
    const packed = abi.isCompressedType(type) ? packedBytes(type, record, RECORD_HEADER_BYTES, record.length) : undefined;
    if (packed === undefined || packed.length === 0) return;
    await this.#decompress(packed, position - cutRecord.length);
    if (this.#visitor.isBlocked) await this.#settleNested();
  }

  /** What simpleperf's own records carry is inside them, however large it is. */
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
    const { beforeUnpacking } = this.#options;
    if (beforeUnpacking !== undefined) await beforeUnpacking();
    const visit = (records: NestedRecords): boolean => this.#visitNested(records);
    this.#compressed ??= new CompressedRecords(this.#stream.view.littleEndian, visit, this.#diagnostics);
    const { gapCount } = this.#stream;
    const isAfterGap = gapCount > this.#gapsBeforeCompressed;
    this.#gapsBeforeCompressed = gapCount;
    await this.#compressed.unpack(bytes, fileOffset, isAfterGap);
  }

  /** @returns false if the visitor waits for something: then the rest is left for {@link #settleNested} */
  #visitNested(records: NestedRecords): boolean {
    // A little compressed data can hold a great deal.
    if (this.#stop.ask()) return true;
    const visitor = this.#visitor;
    while (!visitor.isBlocked && records.next()) {
      visitor.visit(records);
      // Joined records are not unpacked again: a hostile file could nest them endlessly.
      if (records.type >= SIMPLEPERF_TYPE_START && records !== this.#joined) this.#unpackSimpleperf(records);
    }
    return !visitor.isBlocked;
  }

  /** Visits the nested records that were left when the visitor had to wait. */
  async #settleNested(): Promise<void> {
    const visitor = this.#visitor;
    while (visitor.isBlocked) {
      await visitor.settle?.();
      // The joined records were inside one of the compressed ones.
      if (this.#joined === undefined || this.#visitNested(this.#joined)) this.#compressed?.resume();
    }
  }
}

/** The compressed data of a record; undefined if it is too short to hold any. @param body, end where its fields begin and end */
function packedBytes(type: number, view: ByteView, body: number, end: number): Uint8Array | undefined {
  if (type === abi.PERF_RECORD_COMPRESSED) return view.bytes.subarray(body, end);
  // Its size comes first: padding may follow the data.
  const data = body + 8;
  return data > end ? undefined : view.bytes.subarray(data, data + Math.min(view.u64(body), end - data));
}

/** The features in old header records that are strings. */
const STRING_FEATURES: ReadonlySet<number> = new Set([
  abi.HEADER_HOSTNAME,
  abi.HEADER_OSRELEASE,
  abi.HEADER_VERSION,
  abi.HEADER_ARCH,
  abi.HEADER_CPUDESC,
  abi.HEADER_CPUID,
]);

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
