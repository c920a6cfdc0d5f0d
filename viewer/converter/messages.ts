import type { Format } from '../../src/index.ts';

/** Formats that are one file each. */
export type FileFormat = Exclude<Format, 'csv'>;

/** A file under the path that the user chose it with. */
export interface ChosenFile {
  readonly path: string;
  readonly data: Blob;
}

/** What the page asks its worker for. */
export type Request =
  | {
      readonly kind: 'convert';
      /** At least one; several are merged. */
      readonly recordings: readonly ChosenFile[];
      readonly symbolFiles: readonly ChosenFile[];
      /** Paths among the symbol files; undefined if there is none. */
      readonly kallsyms: string | undefined;
      readonly vmlinux: string | undefined;
    }
  /** Only after `converted`. */
  | { readonly kind: 'save'; readonly format: FileFormat };

/** A finding of the conversion, for its user. */
export interface ShownFinding {
  readonly severity: 'info' | 'warning' | 'loss';
  readonly text: string;
}

/** What the worker tells the page. */
export type Reply =
  | { readonly kind: 'progress'; readonly bytes: number }
  /**
   * @param page the text of `-t html`
   * @param recordings the paths of those that could be read
   */
  | { readonly kind: 'converted'; readonly page: string; readonly recordings: readonly string[]; readonly findings: readonly ShownFinding[] }
  /** @param findings also those of the format: what it cannot hold */
  | { readonly kind: 'saved'; readonly format: FileFormat; readonly file: Blob; readonly findings: readonly ShownFinding[] }
  | { readonly kind: 'failed'; readonly message: string };
