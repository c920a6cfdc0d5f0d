import { fileName, folderOf } from '../../src/base/names/file-name.ts';
import { isMainFile, isPartFile, KCORE_DIR } from '../../src/perfdata/directory-recording.ts';
import type { FileKind } from './file-kinds.ts';
import type { ChosenFile, ChosenRecording, IdentifiedFile } from './messages.ts';

/** A file that was chosen, and what it is. */
export interface KnownFile extends IdentifiedFile {
  readonly chosen: ChosenFile;
  /** The times it was chosen: files that have one in common were chosen together. */
  readonly batches: ReadonlySet<number>;
}

/**
 * All files that were chosen. One that is chosen again counts once, and one that has changed replaces what it was. Other files may have the same path, which
 * often is only a name: `bin/app` and its debug file `debug/app`, or the `perf.data` of two folders.
 */
export class ChosenFiles {
  readonly #byPath = new Map<string, KnownFile[]>();
  readonly #identify: (files: readonly ChosenFile[]) => Promise<readonly IdentifiedFile[]>;
  #batches = 0;

  /** @param identify tells what files are, in their order */
  constructor(identify: (files: readonly ChosenFile[]) => Promise<readonly IdentifiedFile[]>) {
    this.#identify = identify;
  }

  async add(chosen: readonly ChosenFile[]): Promise<void> {
    const batch = this.#batches++;
    const identified = await this.#identify(chosen);
    const changed = await changedAmong([...new Set(chosen.map(({ path }) => path))].flatMap((path) => this.#at(path)));
    for (const [nth, one] of chosen.entries()) {
      const known = this.#at(one.path);
      const replaced = known.filter((other) => changed.has(other) || isSame(other.chosen, one));
      const batches = new Set([batch, ...replaced.flatMap((other) => [...other.batches])]);
      this.#byPath.set(one.path, [...known.filter((other) => !replaced.includes(other)), { ...identified[nth], chosen: one, batches }]);
    }
  }

  all(): KnownFile[] {
    return [...this.#byPath.values()].flat();
  }

  of(wanted: FileKind): ChosenFile[] {
    return this.all()
      .filter(({ kind }) => kind === wanted)
      .map(({ file }) => file);
  }

  /** The recordings, and the other files. What is in the directory of a recording (`perf record --threads`) is a part of it. */
  sorted(): { readonly recordings: readonly ChosenRecording[]; readonly others: readonly KnownFile[] } {
    const others = new Set(this.all());
    const recordings: ChosenRecording[] = [];
    for (const known of others) {
      if (known.kind !== 'recording') continue;
      const parts = isMainFile(fileName(known.file.path)) ? this.#besides(known) : [];
      for (const one of [known, ...parts]) others.delete(one);
      const { path, data } = known.file;
      const [main, ...more] = [known, ...parts].map(({ file }) => file);
      recordings.push(more.length === 0 ? { path, data } : { path: folderOf(path).slice(0, -1) || path, data: [main, ...more] });
    }
    return { recordings, others: withOwnPaths([...others]) };
  }

  /** The files that make the directory of a main file a recording: those that perf writes there, if they were chosen with it. */
  #besides({ batches, file }: KnownFile): KnownFile[] {
    const folder = folderOf(file.path);
    return this.all().filter((one) => {
      if (![...batches].some((batch) => one.batches.has(batch)) || !one.file.path.startsWith(folder)) return false;
      const name = one.file.path.slice(folder.length);
      return isPartFile(name) || name.startsWith(`${KCORE_DIR}/`);
    });
  }

  #at(path: string): readonly KnownFile[] {
    return this.#byPath.get(path) ?? [];
  }
}

/** Kernels' files, which are chosen from by their paths, get a number if they share one: `kallsyms (2)`. */
function withOwnPaths(files: readonly KnownFile[]): KnownFile[] {
  const counts = new Map<string, number>();
  return files.map((known) => {
    const { data, path } = known.file;
    if (known.kind !== 'kallsyms' && known.kind !== 'vmlinux') return known;
    const nth = (counts.get(path) ?? 0) + 1;
    counts.set(path, nth);
    return nth === 1 ? known : { ...known, file: { path: `${path} (${nth})`, data } };
  });
}

function isSame({ data: a }: ChosenFile, { data: b }: ChosenFile): boolean {
  return a.size === b.size && modified(a) === modified(b);
}

function modified(data: Blob): number | undefined {
  return data instanceof File ? data.lastModified : undefined;
}

/** Those that can no longer be read: browsers refuse to when a file has changed since it was chosen. */
async function changedAmong(files: readonly KnownFile[]): Promise<ReadonlySet<KnownFile>> {
  const changed = new Set<KnownFile>();
  await Promise.all(
    files.map((file) =>
      file.chosen.data
        .slice(0, 1)
        .arrayBuffer()
        .catch(() => changed.add(file)),
    ),
  );
  return changed;
}
