import { PerfconvError } from '../base/problems/errors.ts';
import { someAtOnce } from '../base/some-at-once.ts';
import { type BlobLike, FILES_AT_ONCE } from '../base/streams/blob-source.ts';
import type { BlockingSource } from '../base/streams/blocking-source.ts';
import { BufferSource, type ByteSource, readRange } from '../base/streams/byte-source.ts';
import { type AbortSignalLike, type Cancellation, cancellable } from '../base/streams/cancellation.ts';
import type { Compression } from '../base/streams/decompressor.ts';
import { dataOfFile, type NamedFile, pathOfFile, pathParts, sourceOf } from '../base/streams/named-file.ts';
import { sameBuildId } from '../elf/build-id.ts';
import { ElfFile } from '../elf/elf-file.ts';
import type { DebugFileKind, FetchedFile, SymbolFiles } from '../symbolizer/inputs/symbol-files.ts';
import { decompressInEngine } from './decompress.ts';

/** A file under its path, in parts; the last one is its name. */
interface StoredFile {
  readonly parts: readonly string[];
  readonly data: Uint8Array | BlobLike;
}

interface IdentifiedFile {
  readonly file: StoredFile;
  readonly buildId: string;
}

/** What an ELF file has. */
interface DescribedFile {
  readonly file: StoredFile;
  readonly hasCode: boolean;
  readonly hasSymtab: boolean;
}

const PLACE = 'the given files';
/** Most linkers put program headers and the build id at the beginning of a file: one read instead of five, for each of what may be thousands of files. */
const HEAD_BYTES = 4096;

/**
 * Symbol files that are in memory, or that the user of a web page chose: binaries, debug files, kernel symbols, lists of JITs. A file is found by its build id,
 * or by its name: of several with the name, the one whose folders are most like those of the path that is asked for. jitdump files (`jit-PID.dump`) must be
 * bytes: Files can only be awaited.
 */
export class BlobSymbolFiles implements SymbolFiles {
  readonly #byName = new Map<string, StoredFile[]>();
  /** Those whose build ids were read, or are being read. */
  readonly #identities = new Map<StoredFile, Promise<IdentifiedFile | undefined>>();
  /** All that have a build id; undefined until all were read. */
  #identified: readonly IdentifiedFile[] | undefined;

  /**
   * @param files a FileList, for example. Files chosen with their folder have its names in their paths (`webkitRelativePath`)
   * @throws PerfconvError `usage` for a file without a name
   */
  constructor(files: Iterable<NamedFile>) {
    for (const file of files) {
      const parts = pathParts(pathOfFile(file));
      const name = parts.at(-1);
      if (name === undefined) throw new PerfconvError('usage', 'a symbol file needs a name');
      const stored = { parts, data: dataOfFile(file) };
      const known = this.#byName.get(name);
      if (known === undefined) this.#byName.set(name, [stored]);
      else known.push(stored);
    }
  }

  async open(path: string): Promise<ByteSource | undefined> {
    const file = this.#find(path);
    return file && sourceOf(file.data, path);
  }

  openJitDump(path: string): BlockingSource | undefined {
    const data = this.#find(path)?.data;
    if (!(data instanceof Uint8Array)) return undefined;
    const readNow = (position: number, target: Uint8Array): number => {
      const part = data.subarray(position, position + target.length);
      target.set(part);
      return part.length;
    };
    return { name: path, sizeBytes: data.length, readNow, close: () => {} };
  }

  /**
   * Finds a file by its build id. The first call reads those of all files.
   * @param signal gives up the call: the next one goes on where it ended
   * @throws the signal's reason
   */
  async fetch(buildId: string, kind: DebugFileKind, signal?: AbortSignalLike): Promise<FetchedFile> {
    this.#identified ??= await cancellable(signal, (cancellation) => this.#identify(cancellation));
    const matching = this.#identified.filter((one) => sameBuildId(one.buildId, buildId));
    const files = (await Promise.all(matching.map(({ file }) => describe(file)))).filter((one) => one !== undefined);
    // A binary that is not stripped is its own debug file: the recorded one may be a copy without symbols.
    const found =
      kind === 'executable' ? files.find(({ hasCode }) => hasCode) : (files.find(({ hasCode }) => !hasCode) ?? files.find(({ hasSymtab }) => hasSymtab));
    const outcome = found === undefined ? 'absent' : 'fits';
    return { source: found && sourceOf(found.file.data, found.file.parts.join('/')), places: [{ place: PLACE, outcome, detail: '' }] };
  }

  decompress(compression: Compression, bytes: Uint8Array, maxSizeBytes: number): Promise<Uint8Array> {
    return decompressInEngine(compression, bytes, maxSizeBytes);
  }

  async ownVdso(): Promise<undefined> {}

  async runningKernel(): Promise<undefined> {}

  defaultBuildIdDir(): undefined {}

  #find(path: string): StoredFile | undefined {
    const parts = pathParts(path);
    return mostAlike(this.#byName.get(parts.at(-1) ?? '') ?? [], parts);
  }

  /** Reads the build ids of all ELF files. */
  async #identify(cancellation: Cancellation): Promise<readonly IdentifiedFile[]> {
    const identified = await someAtOnce([...this.#byName.values()].flat(), FILES_AT_ONCE, async (file) => {
      await cancellation.checkpoint();
      return this.#identityOf(file);
    });
    return identified.filter((one) => one !== undefined);
  }

  #identityOf(file: StoredFile): Promise<IdentifiedFile | undefined> {
    const known = this.#identities.get(file);
    if (known !== undefined) return known;
    const identity = identify(file);
    this.#identities.set(file, identity);
    return identity;
  }
}

/** @returns undefined for another kind of file, one without a build id, and one that cannot be read: it is none that was asked for */
async function identify(file: StoredFile): Promise<IdentifiedFile | undefined> {
  const source = sourceOf(file.data, file.parts.join('/'));
  const buildId = await orUndefined(async () => {
    const head = new BufferSource(await readRange(source, 0, HEAD_BYTES), source.name);
    return (await (await ElfFile.open(head)).buildId()) ?? (await (await ElfFile.open(source)).buildId());
  });
  return buildId === undefined ? undefined : { file, buildId };
}

function describe(file: StoredFile): Promise<DescribedFile | undefined> {
  return orUndefined(async () => {
    const elf = await ElfFile.open(sourceOf(file.data, file.parts.join('/')));
    return { file, hasCode: elf.hasCode, hasSymtab: elf.section('.symtab') !== undefined };
  });
}

/** undefined for a file that is damaged or cannot be read. */
async function orUndefined<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof PerfconvError) return undefined;
    throw error;
  }
}

/** Of files with the same name, the one with that path, or else the first of those that share most of the folders before it. */
function mostAlike(files: readonly StoredFile[], parts: readonly string[]): StoredFile | undefined {
  const exact = files.find((file) => file.parts.length === parts.length && sharedEnd(file.parts, parts) === parts.length);
  if (exact !== undefined) return exact;
  let [best, most] = [files.at(0), 0];
  for (const file of files) {
    const shared = sharedEnd(file.parts, parts);
    if (shared > most) [best, most] = [file, shared];
  }
  return best;
}

function sharedEnd(a: readonly string[], b: readonly string[]): number {
  let length = 0;
  while (length < Math.min(a.length, b.length) && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  return length;
}
