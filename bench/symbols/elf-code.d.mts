/** Sections with code, without the PLT, whose stubs have no debug information. */
export function codeSections(path: string): { readonly name: string; readonly start: bigint; readonly sizeBytes: number }[];

/** A label is a symbol that is neither a function nor data. */
export interface NamedSymbol {
  readonly address: bigint;
  readonly isLabel: boolean;
}

/** Symbols by name; the last of several with the same name. */
export function readSymbols(path: string): Map<string, NamedSymbol>;

/** Loaded parts of the file (PT_LOAD). */
export function loadedSegments(path: string): { readonly address: bigint; readonly offset: number; readonly sizeBytes: number }[];
