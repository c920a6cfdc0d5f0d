import { BoundedView } from './bounded-view.ts';
import { sampleFields } from './sample-anatomy.ts';
import { tracingDataFields } from './tracing-anatomy.ts';
import { zstdFields } from './zstd-anatomy.ts';

// Finds the sizes, counts and offsets in a recording, which are what a hostile file gets wrong on purpose. Uses no code
// of the decoder. Works on mutated files too: each part is read as far as it exists.

/** A size, count or offset: 1, 2, 4 or 8 bytes in the byte order of the file. */
export interface Field {
  readonly offset: number;
  readonly sizeBytes: number;
}

/** A record, with data that follows it but is not counted in its size. */
export interface RecordSpan {
  readonly offset: number;
  /** Including the data that follows. */
  readonly sizeBytes: number;
  readonly type: number;
}

/** The parts of one file. */
export interface Anatomy {
  readonly view: BoundedView;
  readonly form: 'file' | 'pipe' | 'other';
  readonly records: readonly RecordSpan[];
  /** Sizes, counts, offsets, and bit masks that decide how other fields are read. */
  readonly fields: readonly Field[];
  /** Offsets of perf_event_attr structs. */
  readonly attrs: readonly number[];
  /**
   * End of the data section, and where its size and the offsets of later sections are stored; only in files, not pipes.
   */
  readonly dataEnd: number;
  readonly dataSizeAt: number;
  readonly sectionOffsetsAt: readonly number[];
}

/** `PERFILE2` and, before Linux 3.2, `PERFFILE`. */
const MAGICS: readonly bigint[] = [0x32454c4946524550n, 0x454c494646524550n];
const SECTION_BYTES = 16;
const MAX_RECORDS = 4096;

const RECORD_SAMPLE = 9;
const RECORD_HEADER_ATTR = 64;
const RECORD_TRACING_DATA = 66;
const RECORD_AUXTRACE = 71;
const RECORD_HEADER_FEATURE = 80;
const RECORD_COMPRESSED = 81;
const RECORD_COMPRESSED2 = 83;
/** First type of simpleperf's own records. Their sizes have 32 bits, with the high ones in place of `misc`. */
const RECORD_SIMPLEPERF = 32768;
const FEATURE_TRACING_DATA = 1;

/** What the layout of samples of an attr depends on. */
export interface AttrShape {
  readonly sampleType: number;
  readonly readFormat: number;
  readonly branchSampleType: number;
  readonly regsUser: bigint;
  readonly regsIntr: bigint;
}

/** Finds the parts of a recording. Any other file, such as `data.N`, is treated as records alone. */
export function anatomyOf(bytes: Uint8Array): Anatomy {
  return new Dissection(bytes).result();
}

class Dissection {
  readonly #view: BoundedView;
  readonly #fields: Field[] = [];
  readonly #records: RecordSpan[] = [];
  readonly #attrs: number[] = [];
  readonly #shapes: AttrShape[] = [];

  constructor(bytes: Uint8Array) {
    const isBigEndian = MAGICS.includes(new BoundedView(bytes, false).u64(0));
    this.#view = new BoundedView(bytes, !isBigEndian);
  }

  result(): Anatomy {
    const view = this.#view;
    const isRecording = MAGICS.includes(view.u64(0));
    const isPipe = isRecording && view.u64(8) === 16n;
    const base = { view, records: this.#records, fields: this.#fields, attrs: this.#attrs };
    if (isRecording) this.#field(8, 8);
    if (isRecording && !isPipe) return { ...base, form: 'file', ...this.#file() };
    this.#walk(isPipe ? 16 : 0, view.length);
    return { ...base, form: isPipe ? 'pipe' : 'other', dataEnd: view.length, dataSizeAt: -1, sectionOffsetsAt: [] };
  }

  #file(): Pick<Anatomy, 'dataEnd' | 'dataSizeAt' | 'sectionOffsetsAt'> {
    const view = this.#view;
    const stride = view.number(16);
    const attrsStart = view.number(24);
    const attrsEnd = Math.min(attrsStart + view.number(32), view.length);
    for (let at = 16; at < 104; at += 8) this.#field(at, 8);
    for (let at = attrsStart; stride >= 64 && at + stride <= attrsEnd; at += stride) {
      this.#attr(at);
      this.#field(at + stride - 16, 8);
      this.#field(at + stride - 8, 8);
    }
    const dataStart = view.number(40);
    // A size of 0 means that perf was killed: then the data reach to the end.
    const dataSize = view.number(48) || view.length;
    const dataEnd = Math.min(dataStart + dataSize, view.length);
    this.#walk(dataStart, dataEnd);
    return { dataEnd, dataSizeAt: 48, sectionOffsetsAt: this.#features(dataEnd) };
  }

  #features(table: number): number[] {
    const view = this.#view;
    const offsets: number[] = [];
    let nth = 0;
    for (let bit = 0; bit < 256; bit++) {
      if (((view.u64(72 + (bit >> 6) * 8) >> BigInt(bit & 63)) & 1n) === 0n) continue;
      const at = table + nth++ * SECTION_BYTES;
      if (at + SECTION_BYTES > view.length) break;
      this.#field(at, 8);
      this.#field(at + 8, 8);
      offsets.push(at);
      const start = view.number(at);
      const end = start + view.number(at + 8);
      if (bit === FEATURE_TRACING_DATA) this.#fields.push(...tracingDataFields(view, start, end));
      else this.#smallNumbers(start, end);
    }
    return offsets;
  }

  #walk(start: number, end: number): void {
    const view = this.#view;
    for (let at = start; at >= 0 && at + 8 <= end && this.#records.length < MAX_RECORDS; ) {
      const type = view.u32(at);
      const isLong = type >= RECORD_SIMPLEPERF;
      const size = view.u16(at + 6) + (isLong ? view.u16(at + 4) * 0x1_0000 : 0);
      if (size < 8) break;
      const payload = this.#record(type, at, at + size);
      this.#records.push({ offset: at, sizeBytes: Math.min(size + payload, end - at), type });
      at += size + payload;
    }
  }

  /** @returns number of bytes that follow the record but are not counted in its size */
  #record(type: number, at: number, end: number): number {
    const view = this.#view;
    const body = at + 8;
    this.#field(at + 6, 2);
    if (type === RECORD_SAMPLE) {
      // Where attrs differ, the layout of the first is right for most samples, and harmless for the others.
      if (this.#shapes.length > 0) this.#fields.push(...sampleFields(view, body, end, this.#shapes[0]));
    } else if (type === RECORD_HEADER_ATTR) {
      this.#attr(body);
    } else if (type === RECORD_TRACING_DATA) {
      this.#field(body, 4);
      const payload = view.u32(body);
      this.#fields.push(...tracingDataFields(view, end, end + payload));
      return payload;
    } else if (type === RECORD_AUXTRACE) {
      this.#field(body, 8);
      return view.number(body);
    } else if (type === RECORD_COMPRESSED || type === RECORD_COMPRESSED2) {
      const frame = type === RECORD_COMPRESSED ? body : body + 8;
      if (type === RECORD_COMPRESSED2) this.#field(body, 8);
      this.#fields.push(...zstdFields(view, frame, end));
    } else if (type === RECORD_HEADER_FEATURE && view.u64(body) === BigInt(FEATURE_TRACING_DATA)) {
      this.#fields.push(...tracingDataFields(view, body + 8, end));
    } else {
      this.#smallNumbers(body, end);
    }
    return 0;
  }

  /** Words that are no larger than the record's size are probably sizes, counts or indexes. */
  #smallNumbers(start: number, end: number): void {
    const view = this.#view;
    const limit = Math.min(end, view.length);
    const most = Math.max(limit - start, 16);
    for (let at = start; at >= 0 && at + 4 <= limit; at += 4) {
      const word = view.u32(at);
      if (word > 0 && word <= most) this.#field(at, 4);
      if ((at - start) % 8 === 0 && at + 8 <= limit && view.u64(at) > 0n && view.u64(at) <= BigInt(most)) this.#field(at, 8);
    }
  }

  #attr(at: number): void {
    const view = this.#view;
    this.#attrs.push(at);
    this.#field(at + 4, 4);
    // sample_type, read_format, flags, branch_sample_type and the two register masks decide how samples are read.
    for (const word of [24, 32, 40, 72, 80, 96]) this.#field(at + word, 8);
    this.#shapes.push({
      sampleType: view.low(at + 24),
      readFormat: view.low(at + 32),
      branchSampleType: view.low(at + 72),
      regsUser: view.u64(at + 80),
      regsIntr: view.u64(at + 96),
    });
  }

  #field(offset: number, sizeBytes: number): void {
    if (offset >= 0 && offset + sizeBytes <= this.#view.length) this.#fields.push({ offset, sizeBytes });
  }
}
