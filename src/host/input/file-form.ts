import { ByteView } from '../../base/bytes/byte-view.ts';

/** struct perf_pipe_file_header: magic and size. */
export const FORM_BYTES = 16;
/** struct perf_file_header up to the size of the data. */
const HEADER_BYTES = 56;
const SECTION_BYTES = 16;
/** No header is this long: attrs and ids of hundreds of events on a thousand CPUs are some megabytes. */
const MAX_PREFIX_BYTES = 4 << 20;
/** The header of a record, read as an offset, is beyond the end of any file. */
const MAX_FILE_BYTES = 2 ** 48;

/** Whether these bytes are perf's magic number and a header size other than a pipe's 16 bytes (struct perf_pipe_file_header). */
export function isFileForm(start: Uint8Array): boolean {
  const view = viewOf(start);
  return view !== undefined && start.length >= FORM_BYTES && view.u64(8) !== FORM_BYTES;
}

/**
 * Recognizes a recording in file form that is still being written: its header says that there are no data. All that is needed to decode the data comes before
 * them; what perf writes at the end is missing.
 * @param peek returns the first bytes, as many as asked for, fewer only if the input ends
 * @returns how many bytes at the beginning have to be kept while the rest arrives; undefined if the whole file is needed
 */
export async function findGrowingPrefix(peek: (sizeBytes: number) => Promise<Uint8Array>): Promise<number | undefined> {
  const header = viewOf(await peek(HEADER_BYTES));
  if (header === undefined || header.length < HEADER_BYTES) return undefined;
  const dataStart = header.u64(40);
  if (header.u64(48) !== 0 || dataStart < HEADER_BYTES || dataStart > MAX_PREFIX_BYTES) return undefined;
  const stride = header.u64(16);
  const attrs = { start: header.u64(24), end: header.u64(24) + header.u64(32) };
  if (stride < SECTION_BYTES || attrs.end > dataStart) return undefined;

  const prefixBytes = dataStart + SECTION_BYTES;
  const prefix = viewOf(await peek(prefixBytes));
  if (prefix === undefined || prefix.length < prefixBytes) return undefined;
  for (let end = attrs.start + stride; end <= attrs.end; end += stride) {
    const idsStart = prefix.u64(end - SECTION_BYTES);
    const idsBytes = prefix.u64(end - SECTION_BYTES + 8);
    if (idsStart + idsBytes > dataStart) return undefined;
  }
  // A recording that ended without data has its feature table here.
  return prefix.u64(dataStart) < MAX_FILE_BYTES ? undefined : prefixBytes;
}

function viewOf(start: Uint8Array): ByteView | undefined {
  const magic = String.fromCharCode(...start.subarray(0, 8));
  if (magic === 'PERFILE2' || magic === 'PERFFILE') return new ByteView(start, true);
  if (magic === '2ELIFREP' || magic === 'ELIFFREP') return new ByteView(start, false);
  return undefined;
}
