import { PerfconvError } from '../../base/problems/errors.ts';
import { type RecordingSource, readRange } from '../../base/streams/byte-source.ts';
import { magicOf, readMagic } from './recording-magic.ts';

/** Offset in the header of an archive's first file. Source: POSIX, ustar interchange format. */
const TAR_MAGIC_OFFSET = 257;

/**
 * Says what a file seems to be that is no recording.
 * @param start its first bytes, as many as the header of a recording in pipe form has; fewer if it is shorter
 * @throws PerfconvError `not-perf-data`
 */
export async function refuseFile(source: RecordingSource, start: Uint8Array): Promise<never> {
  // A pipe may stay open without more data.
  const isFile = source.sizeBytes !== undefined || source.storedBytes !== undefined;
  const tarMagic = isFile ? await readRange(source, TAR_MAGIC_OFFSET, 5) : new Uint8Array(0);
  throw new PerfconvError('not-perf-data', `not a perf.data file: ${describeOther(start, tarMagic)}`);
}

/**
 * What a file that is not perf.data seems to be, as the end of a sentence.
 * @param tarMagic what is at the place where a tar archive has its magic
 */
function describeOther(start: Uint8Array, tarMagic: Uint8Array): string {
  const magic = magicOf(start);
  if (start.length === 0) return 'it is empty';
  if (readMagic(start) !== undefined) return `it ends after ${start.length} bytes`;
  if (magic.startsWith('\x7fELF')) return 'it is an ELF binary';
  if (magic.startsWith('\x1f\x8b')) return 'it is gzip data; unpack it with gunzip first';
  if (magic.startsWith('\xfd7zXZ')) return 'it is xz data; unpack it with unxz first';
  if (magic.startsWith('\x28\xb5\x2f\xfd')) return 'it is zstd data; unpack it with unzstd first';
  if (magic.startsWith('BZh')) return 'it is bzip2 data; unpack it with bunzip2 first';
  if (magic.startsWith('PK\x03\x04')) return 'it is a zip archive; unpack it with unzip first';
  if (magic.startsWith('DTiJ') || magic.startsWith('JiTD'))
    return 'it is a jitdump file, which has the code of a JIT but no samples; give the recording instead';
  if (String.fromCharCode(...tarMagic) === 'ustar') return 'it is a tar archive; unpack it with tar first';
  if (/^[\t\n\r\x20-\x7e]*$/.test(magic)) return `it is text that starts with ${JSON.stringify(magic)}`;
  return 'its first bytes are not the magic PERFILE2';
}
