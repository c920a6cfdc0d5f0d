/** Sections with code, but for the PLT's, whose stubs no debug information knows. */
export function codeSections(path: string): { readonly name: string; readonly start: bigint; readonly sizeBytes: number }[];

/** A label is neither a function nor data. */
export interface NamedSymbol {
  readonly address: bigint;
  readonly isLabel: boolean;
}

/** Symbols by name; of several with one name the last. */
export function readSymbols(path: string): Map<string, NamedSymbol>;

/** What of the file is loaded: PT_LOAD. */
export function loadedSegments(path: string): { readonly address: bigint; readonly offset: number; readonly sizeBytes: number }[];
