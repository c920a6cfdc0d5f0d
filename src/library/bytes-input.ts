import { DEFAULT_RECORDING } from '../base/names/input-names.ts';
import { type Diagnostic, Diagnostics } from '../base/problems/diagnostics.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import { type BlobLike, BlobSource, modifiedNsOf } from '../base/streams/blob-source.ts';
import { type RecordingSource, readRange } from '../base/streams/byte-source.ts';
import type { Cancellation } from '../base/streams/cancellation.ts';
import { dataOfFile, type NamedFile, pathOfFile, pathParts, sourceOf } from '../base/streams/named-file.ts';
import type { OpenInput } from '../base/streams/recording-input.ts';
import { SharedSource } from '../base/streams/shared-source.ts';
import { type DatedSource, isMainFile, isPartFile, KCORE_DIR, openDirectoryRecording } from '../perfdata/directory-recording.ts';
import { inflateAnywhere } from '../unwrap/inflate.ts';
import { unpackedPieces } from '../unwrap/packed-recording.ts';
import { findWrapping, WRAPPING_START_BYTES, type Wrapping } from '../unwrap/wrappings.ts';
import type { OpenOptions } from './open-options.ts';
import type { RepeatableInput } from './platform.ts';

/** An input that is open for all readings, and what was found when it was opened. */
interface SharedInput extends OpenInput {
  readonly findings: readonly Diagnostic[];
}

/** Opens an input for all readings. */
type OpenOnce = (diagnostics: Diagnostics, cancellation: Cancellation) => Promise<OpenInput>;

/** A recording in memory: its bytes, or the files of its directory. What is compressed as a whole is unpacked, once for all readings. */
export class BytesInput implements RepeatableInput {
  readonly name: string;
  readonly #openOnce: OpenOnce;
  #shared: Promise<SharedInput> | undefined;
  #isClosed = false;

  private constructor(name: string, openOnce: OpenOnce) {
    this.name = name;
    this.#openOnce = openOnce;
  }

  static ofFile(input: Uint8Array | BlobLike, { name, modifiedNs }: OpenOptions): BytesInput {
    const file: Pick<BlobLike, 'name' | 'lastModified'> = input instanceof Uint8Array ? {} : input;
    const named = name ?? file.name ?? DEFAULT_RECORDING;
    return new BytesInput(named, async (diagnostics, cancellation) => ({
      source: await unpacked(sourceOf(input, named), diagnostics, cancellation),
      modifiedNs: modifiedNs ?? modifiedNsOf(file),
    }));
  }

  /**
   * @param listed the files of a directory recording, also of the directories in it, under their paths
   * @throws PerfconvError `usage` for a file without a name
   */
  static ofDirectory(listed: Iterable<NamedFile>, { name, modifiedNs }: OpenOptions): BytesInput {
    const files = [...listed];
    const paths = files.map(partsOf);
    const folder = (paths.find((parts) => isMainFile(parts.at(-1) ?? '')) ?? paths.find((parts) => isPartFile(parts.at(-1) ?? '')) ?? []).slice(0, -1);
    const path = folder.join('/');
    const inFolder = new Map<string, NamedFile>();
    for (const [nth, parts] of paths.entries()) {
      if (parts.slice(0, folder.length).join('/') === path) inFolder.set(parts.slice(folder.length).join('/'), files[nth]);
    }
    const named = name ?? (path || DEFAULT_RECORDING);
    const hasKcoreDir = [...inFolder.keys()].some((one) => one.startsWith(`${KCORE_DIR}/`));
    const kcoreDir = [...folder, KCORE_DIR].join('/');
    const open = async (one: string): Promise<DatedSource | undefined> => datedSource(inFolder.get(one), `${named}/${one}`);
    return new BytesInput(named, async (diagnostics) => {
      const opened = await openDirectoryRecording({ path: named, names: [...inFolder.keys()], open }, diagnostics);
      return { source: opened.source, modifiedNs: modifiedNs ?? opened.modifiedNs, ...(hasKcoreDir && { kcoreDir }) };
    });
  }

  async open(diagnostics: Diagnostics, cancellation: Cancellation): Promise<OpenInput> {
    this.#shared ??= this.#share(cancellation).catch((error: unknown) => {
      // The next reading tries again.
      this.#shared = undefined;
      throw error;
    });
    const { findings, ...input } = await this.#shared;
    diagnostics.addAll(findings);
    return { ...input, source: new SharedSource(input.source, () => this.#isClosed) };
  }

  conflictOfWriting(): undefined {}

  /** Nothing is open, but readings that are still in progress end. */
  async close(): Promise<void> {
    this.#isClosed = true;
  }

  async #share(cancellation: Cancellation): Promise<SharedInput> {
    const found = new Diagnostics();
    const input = await this.#openOnce(found, cancellation);
    return { ...input, findings: found.list() };
  }
}

function partsOf(file: NamedFile): string[] {
  const parts = pathParts(pathOfFile(file));
  if (parts.length === 0) throw new PerfconvError('usage', 'a file of a directory recording needs a name');
  return parts;
}

function datedSource(file: NamedFile | undefined, name: string): DatedSource | undefined {
  if (file === undefined) return undefined;
  const data = dataOfFile(file);
  const source = sourceOf(data, name);
  return data instanceof Uint8Array ? source : Object.assign(source, { modifiedNs: modifiedNsOf(data) });
}

/** The recording itself, or what it unpacks to. */
async function unpacked(source: RecordingSource, diagnostics: Diagnostics, cancellation: Cancellation): Promise<RecordingSource> {
  const wrapping = findWrapping(await readRange(source, 0, WRAPPING_START_BYTES));
  return wrapping === undefined ? source : await keptWhole(wrapping, cancellation.source(source), diagnostics);
}

/** How many bytes are collected before the engine gets them. */
const KEPT_BYTES = 4 << 20;

/** What a source unpacks to, kept in a Blob: an engine may put its bytes where there is room for them. */
async function keptWhole(wrapping: Wrapping, packed: RecordingSource, diagnostics: Diagnostics): Promise<RecordingSource> {
  const kept: Blob[] = [];
  let pieces: Uint8Array<ArrayBuffer>[] = [];
  let sizeBytes = 0;
  const keep = (): void => {
    kept.push(new Blob(pieces));
    pieces = [];
    sizeBytes = 0;
  };
  for await (const piece of unpackedPieces(wrapping, packed, inflateAnywhere, diagnostics)) {
    pieces.push(piece.slice());
    sizeBytes += piece.length;
    if (sizeBytes >= KEPT_BYTES) keep();
  }
  keep();
  return new BlobSource(new Blob(kept), packed.name, packed.sizeBytes);
}
