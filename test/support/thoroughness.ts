/** Whether this is a run of the slow tests, which run some hermetic files again and then try everything. */
const isThorough = process.env.PERFCONV_THOROUGH === '1';

/** How far apart the places are at which an input is cut or damaged: 1 in a thorough run, else the given distance. */
export function stride(hermetic: number): number {
  return isThorough ? 1 : hermetic;
}

/** Those of some places or cases that are a {@link stride} apart. */
export function spread<Case>(cases: readonly Case[], hermetic: number): Case[] {
  const step = stride(hermetic);
  return cases.filter((_, index) => index % step === 0);
}

/** How many random cases to try. */
export function runs(thorough: number, hermetic: number): number {
  return isThorough ? thorough : hermetic;
}

/** Defines tests that reach a limit, which takes long, only in a thorough run. */
export function whenThorough(define: () => void): void {
  if (isThorough) define();
}
