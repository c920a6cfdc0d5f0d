/** Where the page goes, from the root of the repository. */
export const TARGET: string;

/** The text of the target. */
export function compilePage(): Promise<string>;

/** The text of the page that converts recordings in a browser. */
export function compileConverter(): Promise<string>;
