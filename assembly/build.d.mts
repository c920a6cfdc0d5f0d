/** Where the compiled module is put. A path from the repository's root. */
export const TARGET: string;

/** The text of {@link TARGET}. @throws Error with what the compiler says */
export function compile(): Promise<string>;
