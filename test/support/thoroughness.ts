/**
 * How far apart the places are at which an input is cut or damaged: next to each other among the slow tests, which run the same files again, so far
 * apart among the hermetic ones.
 */
export function stride(hermetic: number): number {
  return process.env.PERFCONV_THOROUGH === '1' ? 1 : hermetic;
}

/** Of some places those that are a {@link stride} apart. */
export function spread<Place>(places: readonly Place[], hermetic: number): Place[] {
  const step = stride(hermetic);
  return places.filter((_, index) => index % step === 0);
}
