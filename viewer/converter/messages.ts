import type { Format, ProfileOptions } from '../../src/index.ts';
import type { FileKind } from './file-kinds.ts';

/** Formats that are one file each. */
export type FileFormat = Exclude<Format, 'csv'>;

/** A file under the path that the user chose it with. */
export interface ChosenFile {
  readonly path: string;
  readonly data: Blob;
}

/** A recording under its path: a file, or the files of its directory, the main one first. */
export interface ChosenRecording {
  readonly path: string;
  readonly data: Blob | readonly ChosenFile[];
}

/** Options of a conversion; those that the user left as they were are not there. */
export type ChosenOptions = Pick<ProfileOptions, 'event' | 'pid' | 'tid' | 'comm' | 'time' | 'truncated' | 'inlines' | 'demangle' | 'offCpu'>;

/** What a file is. */
export interface IdentifiedFile {
  readonly kind: FileKind;
  /** Unpacked, if what was chosen is compressed and nobody unpacks it later. */
  readonly file: ChosenFile;
}

/** What the page asks a worker for. */
export type Request =
  | { readonly kind: 'identify'; readonly files: readonly ChosenFile[] }
  | {
      readonly kind: 'convert';
      /** At least one; several are merged. */
      readonly recordings: readonly ChosenRecording[];
      readonly symbolFiles: readonly ChosenFile[];
      /** Paths among the symbol files. */
      readonly kallsyms: readonly string[];
      readonly vmlinux: readonly string[];
      readonly options: ChosenOptions;
    }
  /** Only after `converted`. */
  | { readonly kind: 'save'; readonly format: FileFormat };

/** A finding of the conversion, for its user. */
export interface ShownFinding {
  readonly severity: 'info' | 'warning' | 'loss';
  readonly text: string;
}

/** What a worker tells the page. */
export type Reply =
  /** In the order of the files. */
  | { readonly kind: 'identified'; readonly files: readonly IdentifiedFile[] }
  /** @param bytes how many of the recordings' bytes, as they were chosen, have been worked on */
  | { readonly kind: 'progress'; readonly bytes: number }
  /**
   * @param page the text of `-t html`
   * @param recordings the paths of those that could be read
   * @param events the names of the events that were found
   */
  | {
      readonly kind: 'converted';
      readonly page: string;
      readonly recordings: readonly string[];
      readonly events: readonly string[];
      readonly findings: readonly ShownFinding[];
    }
  /** @param findings also those of the format: what it cannot hold */
  | { readonly kind: 'saved'; readonly format: FileFormat; readonly file: Blob; readonly findings: readonly ShownFinding[] }
  /** @param findings what else is known, which may explain it */
  | { readonly kind: 'failed'; readonly message: string; readonly findings: readonly ShownFinding[] };
