import type { Diagnostics } from '../base/problems/diagnostics.ts';
import { type ByteSource, type RecordingSource, recordingBytes } from '../base/streams/byte-source.ts';
import * as abi from './abi/constants.ts';
import type { LateFeatures, RecordingHeader } from './header/file-header.ts';
import { CarriedRecords, carriesMore } from './stream/carried-records.ts';
import { RecordStream } from './stream/record-stream.ts';
import { type RecordVisitor, type Walk, type WalkOptions, WalkStop } from './stream/record-visitor.ts';

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
    options.onProgress?.(stop.readBytes, recordingBytes(source));
  };
  const walk: Walk = { visitor, stop, options, diagnostics };
  const main = mainPart(source, header, walk);
  const parts = directoryParts(source.parts ?? [], header.littleEndian, walk);
  progress(header.dataStart);
  await main.toEnd(progress);
  if (header.lateFeatures !== undefined) await main.readLateFeatures(header.lateFeatures);
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

/** The records of the file itself. */
function mainPart(source: ByteSource, { mode, littleEndian, dataStart, dataEnd, lateFeatures }: RecordingHeader, walk: Walk): PartWalk {
  const isPipe = mode === 'pipe';
  const range = { littleEndian, start: dataStart, end: dataEnd, mayBeFollowed: isPipe, featureTableBytes: lateFeatures?.tableBytes ?? 0 };
  return new PartWalk(new RecordStream(source, range, walk.diagnostics), isPipe, walk);
}

/** The records of a directory's other files. */
function directoryParts(files: readonly ByteSource[], littleEndian: boolean, walk: Walk): PartWalk[] {
  const maxChunkBytes = Math.max(MIN_PART_CHUNK_BYTES, Math.floor(PART_CHUNKS_BYTES / Math.max(1, files.length)));
  return files.map((file, i) => {
    const range = { littleEndian, start: 0, end: file.sizeBytes ?? Number.POSITIVE_INFINITY, maxChunkBytes, fileName: `data.${i}` };
    return new PartWalk(new RecordStream(file, range, walk.diagnostics), false, walk);
  });
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

/** One file's records, with what they carry. */
class PartWalk {
  /** Whether the records may be those of Google's old pipe dialect: until the first one that tells. */
  #mayHaveLegacyHeaders: boolean;
  readonly #stream: RecordStream;
  readonly #visitor: RecordVisitor;
  readonly #stop: WalkStop;
  readonly #diagnostics: Diagnostics;
  readonly #carried: CarriedRecords;
  #isAtEnd = false;

  /** @param isPipe whether the records are those of a pipe, in any of its dialects */
  constructor(stream: RecordStream, isPipe: boolean, walk: Walk) {
    this.#stream = stream;
    this.#mayHaveLegacyHeaders = isPipe;
    this.#visitor = walk.visitor;
    this.#stop = walk.stop;
    this.#diagnostics = walk.diagnostics;
    this.#carried = new CarriedRecords(stream, walk);
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
        if (carriesMore(stream.type)) {
          await this.#carried.unpack();
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
      await this.#carried.finish();
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
