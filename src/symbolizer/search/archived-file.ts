import { ByteView } from '../../base/bytes/byte-view.ts';
import { type ByteSource, readRange } from '../../base/streams/byte-source.ts';
import { byteLength, decodeText } from '../../base/text/text.ts';
import type { SymbolFiles } from '../inputs/symbol-files.ts';

/**
 * Between the path of an archive and that of a library in it: `base.apk!/lib/arm64-v8a/libnative.so`. Source: bionic's android-changes-for-ndk-developers.md,
 * "Opening shared libraries directly from an APK"; simpleperf records such paths.
 */
const IN_ARCHIVE = '!/';

/*
 * The parts of an archive that are read here, by offset and size in bytes. Source: PKWARE's APPNOTE.TXT, 4.3.7, 4.3.12 and 4.3.16. What archives of more than
 * 4 GB have in their place is not read: Android's have none.
 */
const END = { signature: 0x06054b50, directorySize: 12, directoryOffset: 16, commentSize: 20, bytes: 22, maxCommentBytes: 0xffff };
const ENTRY = { signature: 0x02014b50, method: 10, packedSize: 20, nameSize: 28, extraSize: 30, commentSize: 32, headerOffset: 42, bytes: 46 };
const HEADER = { signature: 0x04034b50, nameSize: 26, extraSize: 28, bytes: 30 };
/** Not compressed. Libraries that are cannot be mapped from an archive. */
const STORED = 0;

/** A directory of 65,535 entries, as many as there may be, with names of 200 bytes takes half of this. */
const MAX_DIRECTORY_BYTES = 1 << 25;

interface StoredEntry {
  readonly headerOffset: number;
  readonly sizeBytes: number;
}

/**
 * Opens a library that is in an archive, such as an Android package, to be closed by the caller.
 * @param path of the library: {@link IN_ARCHIVE} is in it
 * @returns undefined if there is no such archive, it is damaged, or has no such library, or a compressed one
 * @throws PerfconvError `io`
 */
export async function openArchived(files: SymbolFiles, path: string): Promise<ByteSource | undefined> {
  const at = path.indexOf(IN_ARCHIVE);
  const name = path.slice(at + IN_ARCHIVE.length);
  // What comes before the name is opened: a `..` that leads out of the name would have hidden what that is.
  if (at < 0 || name.split('/').includes('..')) return undefined;
  const archive = await files.open(path.slice(0, at));
  if (archive === undefined) return undefined;
  let library: ByteSource | undefined;
  try {
    library = await findLibrary(archive, name, path);
    return library;
  } finally {
    if (library === undefined) await archive.close();
  }
}

async function findLibrary(archive: ByteSource, name: string, path: string): Promise<ByteSource | undefined> {
  const directory = await readDirectory(archive);
  const entry = directory && findStored(directory, name);
  if (entry === undefined) return undefined;
  const header = await viewOf(archive, entry.headerOffset, HEADER.bytes);
  if (header.length < HEADER.bytes || header.u32(0) !== HEADER.signature) return undefined;
  const start = entry.headerOffset + HEADER.bytes + header.u16(HEADER.nameSize) + header.u16(HEADER.extraSize);
  return start + entry.sizeBytes > (archive.sizeBytes ?? 0) ? undefined : new ArchivedSource(archive, path, start, entry.sizeBytes);
}

/** The list of what is in an archive; undefined if its end does not lead to one. */
async function readDirectory(archive: ByteSource): Promise<ByteView | undefined> {
  const { sizeBytes = 0 } = archive;
  const endAt = Math.max(0, sizeBytes - END.bytes - END.maxCommentBytes);
  const tail = await viewOf(archive, endAt, sizeBytes - endAt);
  let at = tail.length - END.bytes;
  while (at >= 0 && !isEnd(tail, at)) at--;
  if (at < 0) return undefined;
  const directorySize = tail.u32(at + END.directorySize);
  return directorySize > MAX_DIRECTORY_BYTES ? undefined : viewOf(archive, tail.u32(at + END.directoryOffset), directorySize);
}

/** Whether the record at the end of an archive begins here. Only a comment may follow it. */
function isEnd(tail: ByteView, at: number): boolean {
  return tail.u32(at) === END.signature && at + END.bytes + tail.u16(at + END.commentSize) === tail.length;
}

function findStored(directory: ByteView, name: string): StoredEntry | undefined {
  // Most names differ in length: they are not even decoded.
  const nameSize = byteLength(name);
  for (let at = 0; at + ENTRY.bytes <= directory.length && directory.u32(at) === ENTRY.signature; ) {
    const nameAt = at + ENTRY.bytes;
    const nameEnd = nameAt + directory.u16(at + ENTRY.nameSize);
    if (nameEnd - nameAt === nameSize && decodeText(directory.bytes.subarray(nameAt, nameEnd)) === name) {
      if (directory.u16(at + ENTRY.method) !== STORED) return undefined;
      return { headerOffset: directory.u32(at + ENTRY.headerOffset), sizeBytes: directory.u32(at + ENTRY.packedSize) };
    }
    at = nameEnd + directory.u16(at + ENTRY.extraSize) + directory.u16(at + ENTRY.commentSize);
  }
  return undefined;
}

async function viewOf(source: ByteSource, position: number, sizeBytes: number): Promise<ByteView> {
  return new ByteView(await readRange(source, position, sizeBytes), true);
}

/** The bytes of an archive that are a file of their own. Closing it closes the archive. */
class ArchivedSource implements ByteSource {
  readonly name: string;
  readonly sizeBytes: number;
  readonly #archive: ByteSource;
  readonly #start: number;

  constructor(archive: ByteSource, name: string, start: number, sizeBytes: number) {
    this.name = name;
    this.sizeBytes = sizeBytes;
    this.#archive = archive;
    this.#start = start;
  }

  get mayReadAhead(): boolean | undefined {
    return this.#archive.mayReadAhead;
  }

  async readAt(position: number, target: Uint8Array): Promise<number> {
    const left = this.sizeBytes - position;
    return left <= 0 ? 0 : this.#archive.readAt(this.#start + position, left < target.length ? target.subarray(0, left) : target);
  }

  close(): Promise<void> {
    return this.#archive.close();
  }
}
