/** A module: what exports all of it, and where it is put. Paths from the repository's root. */
export interface AssemblyModule {
  readonly source: string;
  readonly target: string;
}

export const MODULES: readonly AssemblyModule[];

/** The text of a module's target. @throws Error with what the compiler says */
export function compile(module: AssemblyModule): Promise<string>;
