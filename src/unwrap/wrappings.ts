/** A way in which a whole recording may be compressed. */
export type Wrapping = 'gzip' | 'zlib' | 'zstd' | 'xz' | 'bzip2';

interface WrappingKind {
  readonly wrapping: Wrapping;
  readonly isStart: (start: Uint8Array) => boolean;
  /** A command that unpacks a file by hand and keeps the packed one. */
  readonly command: string;
}

const KINDS: readonly WrappingKind[] = [
  { wrapping: 'gzip', isStart: startsWith(0x1f, 0x8b, 8), command: 'gunzip -k' },
  { wrapping: 'zstd', isStart: startsWith(0x28, 0xb5, 0x2f, 0xfd), command: 'unzstd' },
  { wrapping: 'xz', isStart: startsWith(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0), command: 'unxz -k' },
  { wrapping: 'bzip2', isStart: startsWith(0x42, 0x5a, 0x68), command: 'bunzip2 -k' },
  { wrapping: 'zlib', isStart: isZlibHeader, command: 'zlib-flate -uncompress' },
];

/** How many bytes {@link findWrapping} looks at. */
export const WRAPPING_START_BYTES = 6;

/** How an input that starts like this is compressed; undefined if it is not. */
export function findWrapping(start: Uint8Array): Wrapping | undefined {
  return KINDS.find(({ isStart }) => isStart(start))?.wrapping;
}

/** A command line that unpacks `path`; for standard input, `-`, one that unpacks it on its way to perfconv. */
function unpackCommand(wrapping: Wrapping, path: string): string {
  const command = KINDS.find((kind) => kind.wrapping === wrapping)?.command ?? '';
  if (path === '-') return `${command.replace(/ -k$/, '')} | perfconv -`;
  return `${command} ${/^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`}`;
}

/** What is wrong with an input that is compressed in a way that perfconv does not unpack, as the end of a sentence. @param path see {@link unpackCommand} */
export function notUnpacked(wrapping: Wrapping, path: string): string {
  return `is compressed with ${wrapping}, which perfconv does not unpack: run ${unpackCommand(wrapping, path)}`;
}

function startsWith(...magic: readonly number[]): (start: Uint8Array) => boolean {
  return (start) => start.length >= magic.length && magic.every((byte, i) => start[i] === byte);
}

/** Method deflate, a window of 32 KiB, no dictionary, and a check of the two bytes. Source: RFC 1950. */
function isZlibHeader(start: Uint8Array): boolean {
  return start.length >= 2 && start[0] === 0x78 && (start[1] & 0x20) === 0 && (start[0] * 256 + start[1]) % 31 === 0;
}
