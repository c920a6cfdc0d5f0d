import { type ByteSource, readRange } from '../bytes/byte-source.ts';
import { ByteView } from '../bytes/byte-view.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { PerfconvError } from '../errors.ts';
import { type PerfEventAttr, readAttr } from './attr.ts';
import { HEADER_FEAT_BITS, HEADER_HOSTNAME } from './constants.ts';
import { type Features, readFeature } from './features.ts';

const FILE_HEADER_BYTES = 104;
const PIPE_HEADER_BYTES = 16;
/** struct perf_file_section: offset and size. */
const SECTION_BYTES = 16;

/** An attr with the ids of the kernel events that were opened for it (one per CPU or thread). */
export interface AttrWithIds {
  readonly attr: PerfEventAttr;
  readonly ids: readonly number[];
}

/** What stands around the records. */
export interface RecordingHeader {
  readonly mode: 'file' | 'pipe';
  readonly littleEndian: boolean;
  /** Empty in pipe mode, where attrs come as records. */
  readonly attrs: readonly AttrWithIds[];
  readonly features: Features;
  /** File position of the first record, and of the end of the last; Infinity where only the end of the source tells. */
  readonly dataStart: number;
  readonly dataEnd: number;
}

/**
 * Reads a recording's header: in file mode with its attrs and features, too.
 * @throws PerfconvError `not-perf-data`, `unsupported`, `damaged`
 */
export async function readHeader(source: ByteSource, diagnostics: Diagnostics): Promise<RecordingHeader> {
  const start = await readRange(source, 0, PIPE_HEADER_BYTES);
  const littleEndian = detectByteOrder(start);
  const headerSize = new ByteView(start, littleEndian).u64(8);
  if (headerSize === PIPE_HEADER_BYTES) {
    return { mode: 'pipe', littleEndian, attrs: [], features: { present: new Set() }, dataStart: PIPE_HEADER_BYTES, dataEnd: Number.POSITIVE_INFINITY };
  }
  const bytes = await readRange(source, 0, FILE_HEADER_BYTES);
  if (bytes.length < FILE_HEADER_BYTES || headerSize < FILE_HEADER_BYTES) {
    throw new PerfconvError('damaged', `file of ${bytes.length} bytes says its header has ${headerSize}`, { offset: 8, record: 'perf_file_header' });
  }
  const view = new ByteView(bytes, littleEndian);
  const attrs = await readAttrs(source, view, diagnostics);
  const dataStart = view.u64(40);
  let dataSize = view.u64(48);
  if (source.sizeBytes !== undefined && dataStart > source.sizeBytes) {
    throw new PerfconvError('damaged', `data begin at 0x${dataStart.toString(16)}, behind the end of the file`, { offset: 40, record: 'perf_file_header' });
  }
  const features: Features = { present: new Set() };
  if (dataSize === 0) {
    // perf fills in the size when it ends: it was killed, and no feature was written either.
    diagnostics.add(
      'unfinished',
      'warning',
      'the recording was not ended properly (perf was killed): it is read up to the end of the file, and its header features are missing',
      48,
    );
    dataSize = Number.POSITIVE_INFINITY;
  } else {
    await readFeatures(source, view, dataStart + dataSize, features, diagnostics);
  }
  return { mode: 'file', littleEndian, attrs, features, dataStart, dataEnd: dataStart + dataSize };
}

function detectByteOrder(start: Uint8Array): boolean {
  const magic = new TextDecoder('latin1').decode(start.subarray(0, 8));
  if (start.length === PIPE_HEADER_BYTES) {
    if (magic === 'PERFILE2') return true;
    if (magic === '2ELIFREP') return false;
    if (magic === 'PERFFILE' || magic === 'ELIFFREP') {
      throw new PerfconvError('unsupported', 'the recording is in the format of perf before Linux 3.x (PERFFILE), which is not read yet');
    }
  }
  throw new PerfconvError('not-perf-data', `not a perf.data file: ${describeOther(start, magic)}`);
}

/** What a file that is no perf.data seems to be, as the end of a sentence. */
function describeOther(start: Uint8Array, magic: string): string {
  if (start.length === 0) return 'it is empty';
  if (magic.startsWith('PERFILE2') || magic.startsWith('2ELIFREP')) return `it ends after ${start.length} bytes`;
  if (magic.startsWith('\x7fELF')) return 'it is an ELF binary';
  if (magic.startsWith('\x1f\x8b')) return 'it is gzip data; unpack it with gunzip first';
  if (magic.startsWith('\xfd7zXZ')) return 'it is xz data; unpack it with unxz first';
  if (magic.startsWith('\x28\xb5\x2f\xfd')) return 'it is zstd data; unpack it with unzstd first';
  if (magic.startsWith('BZh')) return 'it is bzip2 data; unpack it with bunzip2 first';
  if (/^[\t\n\r\x20-\x7e]*$/.test(magic)) return `it is text that starts with ${JSON.stringify(magic)}`;
  return 'its first bytes are not the magic PERFILE2';
}

/** The attrs section: structs of `attr_size` bytes, each an attr followed by the section that holds its ids. */
async function readAttrs(source: ByteSource, header: ByteView, diagnostics: Diagnostics): Promise<AttrWithIds[]> {
  const stride = header.u64(16);
  const start = header.u64(24);
  const size = header.u64(32);
  const place = { offset: 16, record: 'perf_file_header' };
  if (stride < 64 + SECTION_BYTES || stride > 4096) throw new PerfconvError('damaged', `attr_size is ${stride}`, place);
  if (size === 0 || (source.sizeBytes !== undefined && start + size > source.sizeBytes)) {
    throw new PerfconvError('damaged', size === 0 ? 'the file holds no event attrs' : `attrs of ${size} bytes overrun the file`, place);
  }
  const bytes = await readRange(source, start, size);
  const view = new ByteView(bytes, header.littleEndian);
  const attrs: AttrWithIds[] = [];
  let idBytesSum = 0;
  for (let at = 0; at + stride <= bytes.length; at += stride) {
    const attr = readAttr(view, at, stride - SECTION_BYTES, start + at);
    const idsStart = view.u64(at + stride - 16);
    const idsSize = view.u64(at + stride - 8);
    idBytesSum += idsSize;
    // Sections that overlap each other would be read once for each attr.
    if (source.sizeBytes !== undefined && idBytesSum > source.sizeBytes) {
      throw new PerfconvError('damaged', `event ids of ${idBytesSum} bytes overrun the file`, { offset: start + at + stride - 16, record: 'perf_file_attr' });
    }
    const idBytes = await readRange(source, idsStart, idsSize);
    if (idBytes.length < idsSize) diagnostics.add('ids-damaged', 'warning', `the ids of attr ${attrs.length} overrun the file`, start + at + stride - 16);
    attrs.push({ attr, ids: readIds(new ByteView(idBytes, header.littleEndian), 0, idBytes.length) });
  }
  return attrs;
}

/** Event ids from `at` up to `end`, as doubles: the kernel counts them up from 1. */
export function readIds(view: ByteView, at: number, end: number): number[] {
  const ids: number[] = [];
  for (let offset = at; offset + 8 <= end; offset += 8) ids.push(view.u64(offset));
  return ids;
}

/** Behind the data: one section descriptor per set bit of the feature bitmap, in the order of the bits. */
async function readFeatures(source: ByteSource, header: ByteView, tableStart: number, features: Features, diagnostics: Diagnostics): Promise<void> {
  const bits = featureBits(header);
  const table = await readRange(source, tableStart, bits.length * SECTION_BYTES);
  if (table.length < bits.length * SECTION_BYTES) {
    diagnostics.add('features-missing', 'warning', 'the recording is cut off: its header features (host, events, build ids) are missing', tableStart);
    return;
  }
  const view = new ByteView(table, header.littleEndian);
  for (const [i, bit] of bits.entries()) {
    const offset = view.u64(i * SECTION_BYTES);
    const size = view.u64(i * SECTION_BYTES + 8);
    readFeature(features, bit, await readRange(source, offset, size), header.littleEndian, offset, diagnostics);
  }
}

/**
 * Set bits of the header's feature bitmap. It is an array of C longs: if HOSTNAME is not set when the words are taken
 * for 64-bit ones, the writer may have been a big-endian 32-bit perf.
 */
function featureBits(header: ByteView): number[] {
  const collect = (isSet: (bit: number) => boolean): number[] => {
    const bits: number[] = [];
    for (let bit = 0; bit < HEADER_FEAT_BITS; bit++) if (isSet(bit)) bits.push(bit);
    return bits;
  };
  const in64 = collect((bit) => ((header.big(72 + Math.floor(bit / 64) * 8) >> BigInt(bit % 64)) & 1n) === 1n);
  if (in64.length === 0 || in64.includes(HEADER_HOSTNAME)) return in64;
  const in32 = collect((bit) => ((header.u32(72 + Math.floor(bit / 32) * 4) >>> (bit % 32)) & 1) === 1);
  return in32.includes(HEADER_HOSTNAME) ? in32 : in64;
}
