/** Modules that are compiled by themselves, and where in src/ each is put. Paths from the repository's root. */
export const MODULES: Readonly<Record<string, string>>;

/** The text of the module of src/ that holds a compiled one. @throws Error with what the compiler says */
export function compile(source: string): Promise<string>;
