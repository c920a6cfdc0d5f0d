import { ByteView } from '../base/bytes/byte-view.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import { parseTraceFormat, type TraceFormat } from './format.ts';
import { type Word, wordOfHalves } from './word.ts';

/** What the kernel said about its tracepoints when a recording was made. */
export interface TracingData {
  /** `0.6` and the like. */
  readonly version: string;
  readonly littleEndian: boolean;
  /** Size of the recording machine's `long` in bytes: 4 or 8. */
  readonly longSize: number;
  readonly pageSize: number;
  /** By `common_type`, which is the `config` of a tracepoint's attr. */
  readonly formats: ReadonlyMap<number, TraceFormat>;
  /** Strings in the kernel to whose addresses payloads refer. */
  readonly printkFormats: ReadonlyMap<Word, string>;
  /** What was missing, as the end of a sentence; undefined if nothing was. */
  readonly problem: string | undefined;
}

const MAGIC = [0x17, 0x08, 0x44, 0x74, 0x72, 0x61, 0x63, 0x69, 0x6e, 0x67];

/** Linux has about 2,500. */
const MAX_FORMATS = 100_000;
/** How many strings of the kernel are kept. It has some thousand. */
const MAX_PRINTK_FORMATS = 1 << 18;

/**
 * Reads the TRACING_DATA feature, or the payload of a PERF_RECORD_HEADER_TRACING_DATA: formats of tracepoints, and what else is needed for their texts. If the
 * bytes end too early, the result has what came before, and {@link TracingData.problem}.
 *
 * Source: trace-cmd.dat(5); perf's section is the beginning of such a file.
 * @throws PerfconvError `damaged` if the bytes do not begin like the section
 */
export function readTracingData(bytes: Uint8Array): TracingData {
  if (bytes.length < MAGIC.length || MAGIC.some((byte, i) => bytes[i] !== byte)) {
    throw new PerfconvError('damaged', 'no tracing data: it does not begin with its magic', { record: 'TRACING_DATA' });
  }
  const versionEnd = bytes.indexOf(0, MAGIC.length);
  if (versionEnd < 0 || versionEnd + 7 > bytes.length) throw new PerfconvError('damaged', 'tracing data ends in its header', { record: 'TRACING_DATA' });
  const version = new ByteView(bytes, true).text(MAGIC.length, versionEnd);
  const littleEndian = bytes[versionEnd + 1] === 0;
  const view = new ByteView(bytes, littleEndian);
  const longSize = bytes[versionEnd + 2] === 4 ? 4 : 8;
  const pageSize = view.u32(versionEnd + 3);
  const formats = new Map<number, TraceFormat>();
  const printkFormats = new Map<Word, string>();
  let problem: string | undefined;
  try {
    readSections(new Sections(view, versionEnd + 7), version, formats, printkFormats);
  } catch (error) {
    if (!(error instanceof PerfconvError)) throw error;
    problem = error.message;
  }
  return { version, littleEndian, longSize, pageSize, formats, printkFormats, problem };
}

/** Reads the sections into the maps, in their order. @throws PerfconvError `damaged`, with the end of a sentence, if one does not fit */
function readSections(sections: Sections, version: string, formats: Map<number, TraceFormat>, printkFormats: Map<Word, string>): void {
  const add = (system: string, text: string): void => {
    const format = parseTraceFormat(system, text);
    if (format === undefined) return;
    if (formats.size >= MAX_FORMATS) throw new PerfconvError('damaged', `it has more than ${MAX_FORMATS} formats`);
    formats.set(format.id, format);
  };
  sections.expectName('header_page');
  sections.sized(8);
  sections.expectName('header_event');
  sections.sized(8);
  for (let count = sections.u32(); count > 0; count--) add('ftrace', sections.sized(8));
  for (let systems = sections.u32(); systems > 0; systems--) {
    const system = sections.name();
    for (let count = sections.u32(); count > 0; count--) add(system, sections.sized(8));
  }
  if (sections.isAtEnd) return;
  sections.sized(4); // kallsyms: perf writes none
  if (sections.isAtEnd) return;
  readPrintkFormats(sections.sized(4), printkFormats);
  if (Number.parseFloat(version) < 0.6 || sections.isAtEnd) return;
  sections.sized(8); // saved_cmdlines: names of threads, which COMM records tell as well
}

/** Lines of `0xffffffff82000000 : "text"`. */
function readPrintkFormats(text: string, printkFormats: Map<Word, string>): void {
  for (const line of text.split('\n')) {
    const match = /^(?:0x)?([0-9a-f]{1,16})\s*:\s*"(.*)"\s*$/i.exec(line);
    if (match === null) continue;
    if (printkFormats.size >= MAX_PRINTK_FORMATS) throw new PerfconvError('damaged', `it has more than ${MAX_PRINTK_FORMATS} strings of the kernel`);
    const digits = match[1].padStart(16, '0');
    const address = wordOfHalves(Number.parseInt(digits.slice(8), 16), Number.parseInt(digits.slice(0, 8), 16));
    printkFormats.set(address, match[2].replace(/\\n$/, '').replaceAll('\\"', '"'));
  }
}

/** The sections, one after another. Every read first checks that the bytes are there. */
class Sections {
  readonly #view: ByteView;
  #at: number;

  constructor(view: ByteView, at: number) {
    this.#view = view;
    this.#at = at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#view.length;
  }

  u32(): number {
    this.#need(4);
    this.#at += 4;
    return this.#view.u32(this.#at - 4);
  }

  /** A size, of 4 or 8 bytes, then that many bytes of text. */
  sized(sizeBytes: 4 | 8): string {
    this.#need(sizeBytes);
    const length = sizeBytes === 4 ? this.#view.u32(this.#at) : this.#view.u64(this.#at);
    this.#at += sizeBytes;
    this.#need(length);
    this.#at += length;
    return this.#view.text(this.#at - length, this.#at);
  }

  /** Text that a NUL ends. */
  name(): string {
    const end = this.#view.bytes.indexOf(0, this.#at);
    if (end < 0) throw new PerfconvError('damaged', 'a name is not terminated');
    const text = this.#view.text(this.#at, end);
    this.#at = end + 1;
    return text;
  }

  expectName(expected: string): void {
    const name = this.name();
    if (name !== expected) throw new PerfconvError('damaged', `${expected} is missing`);
  }

  #need(bytes: number): void {
    if (bytes > this.#view.length - this.#at) throw new PerfconvError('damaged', 'it ends in the middle of a section');
  }
}
