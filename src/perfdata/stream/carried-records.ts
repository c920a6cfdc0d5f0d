import { ByteView } from '../../base/bytes/byte-view.ts';
import { RECORD_HEADER_BYTES } from '../../base/bytes/record-layout.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { SIMPLEPERF_TYPE_START, SP_SPLIT, SP_SPLIT_END, SP_TRACING_DATA } from '../../simpleperf/constants.ts';
import { SplitRecords } from '../../simpleperf/split-records.ts';
import * as abi from '../abi/constants.ts';
import { CompressedRecords } from './compressed-records.ts';
import { NestedRecords } from './nested-records.ts';
import type { RecordCursor } from './record-cursor.ts';
import { MAX_PAYLOAD_BYTES, type RecordStream } from './record-stream.ts';
import type { RecordVisitor, Walk, WalkOptions, WalkStop } from './record-visitor.ts';

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

/** Whether records of a type carry more than their fields. */
export function carriesMore(type: number): boolean {
  return CARRIERS.has(type);
}

/**
 * What some records of a file carry besides their own fields: further records, compressed or split, which are visited; tracing data; and the payload of
 * hardware traces, which is stepped over.
 */
export class CarriedRecords {
  readonly #stream: RecordStream;
  readonly #visitor: RecordVisitor;
  readonly #stop: WalkStop;
  readonly #options: WalkOptions;
  readonly #diagnostics: Diagnostics;
  #compressed: CompressedRecords | undefined;
  /** How many times bytes had been left out when the last compressed record came. */
  #gapsBeforeCompressed = 0;
  readonly #splits: SplitRecords;
  /** The records that simpleperf split, joined again. */
  #joined: NestedRecords | undefined;

  constructor(stream: RecordStream, { visitor, stop, options, diagnostics }: Walk) {
    this.#stream = stream;
    this.#visitor = visitor;
    this.#stop = stop;
    this.#options = options;
    this.#diagnostics = diagnostics;
    this.#splits = new SplitRecords(diagnostics);
  }

  /** Unpacks what the current record carries besides its own fields. Returns when nothing of that waits any more. */
  async unpack(): Promise<void> {
    await this.#unpackCurrent();
    if (this.#visitor.isBlocked) await this.#settleNested();
  }

  /** To be called at the end of the file: unpacks what there is of a record that is cut off, and reports what is missing. */
  async finish(): Promise<void> {
    await this.#unpackCutRecord();
    while (this.#compressed?.end(this.#stream.cutRecord !== undefined) === false) await this.#settleNested();
    this.#splits.finish();
  }

  async #unpackCurrent(): Promise<void> {
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
        return size < RECORD_HEADER_BYTES + 8 ? undefined : this.#visitTrace(view.u64(body));
      case abi.PERF_RECORD_COMPRESSED:
      case abi.PERF_RECORD_COMPRESSED2: {
        const packed = packedBytes(type, view, body, end);
        return packed && this.#decompress(packed, fileOffset);
      }
      default:
        this.#unpackSimpleperf(stream);
    }
  }

  async #visitTrace(sizeBytes: number): Promise<void> {
    const stream = this.#stream;
    const visitor = this.#visitor;
    const { position, source } = stream;
    if (visitor.keepsTraces === true && sizeBytes <= MAX_PAYLOAD_BYTES) {
      const bytes = await stream.takePayload(sizeBytes, 'PERF_RECORD_AUXTRACE');
      if (bytes !== undefined) visitor.visitTrace?.({ source, position, sizeBytes: bytes.length, bytes });
    } else if (stream.skipPayloadOf('PERF_RECORD_AUXTRACE', sizeBytes)) {
      if (visitor.keepsTraces === true) this.#reportTooLarge(position, sizeBytes);
      else visitor.visitTrace?.({ source, position, sizeBytes, bytes: undefined });
    }
  }

  #reportTooLarge(position: number, sizeBytes: number): void {
    const message = 'parts of the hardware trace are too large to be kept, as for a pipe: record to a file, or with smaller buffers (perf record -m ,16M)';
    this.#diagnostics.addBytes('auxtrace-too-large', 'loss', message, position, sizeBytes);
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
