import { type FileKind, identify } from './file-kinds.ts';
import type { ChosenFile } from './messages.ts';

/** A file that was chosen, and what it is. */
export interface KnownFile {
  readonly kind: FileKind;
  /** Unpacked, if what was chosen is compressed. */
  readonly file: ChosenFile;
  readonly chosen: ChosenFile;
}

/**
 * All files that were chosen. One that is chosen again counts once, and one that has changed replaces what it was. Other files may have the same path, which
 * often is only a name: `bin/app` and its debug file `debug/app`, or the `perf.data` of two folders.
 */
export class ChosenFiles {
  readonly #byPath = new Map<string, KnownFile[]>();

  async add(chosen: readonly ChosenFile[]): Promise<void> {
    for (const one of chosen) {
      const known = { ...(await identify(one)), chosen: one };
      const changed = await changedAmong(this.#at(one.path));
      const others = this.#at(one.path).filter((other) => !changed.includes(other) && !isSame(other.chosen, one));
      this.#byPath.set(one.path, [...others, known]);
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

  #at(path: string): readonly KnownFile[] {
    return this.#byPath.get(path) ?? [];
  }
}

function isSame({ data: a }: ChosenFile, { data: b }: ChosenFile): boolean {
  return a.size === b.size && modified(a) === modified(b);
}

function modified(data: Blob): number | undefined {
  return data instanceof File ? data.lastModified : undefined;
}

/** Those that can no longer be read: browsers refuse to when a file has changed since it was chosen. */
async function changedAmong(files: readonly KnownFile[]): Promise<KnownFile[]> {
  const changed: KnownFile[] = [];
  for (const file of files)
    await file.chosen.data
      .slice(0, 1)
      .arrayBuffer()
      .catch(() => changed.push(file));
  return changed;
}
