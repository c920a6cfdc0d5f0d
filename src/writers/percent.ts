/** A share in percent; 0 if the whole is 0. */
export function percentOf(part: number, whole: number): number {
  return whole === 0 ? 0 : (100 * part) / whole;
}

/** A percentage with two decimals, rounded like C's printf, which perf uses: ties go to the even digit, so 3.125 becomes 3.12. */
export function percentText(percent: number): string {
  const hundredths = Math.floor(percent * 100);
  const isTie = Number.isInteger(percent * 8) && !Number.isInteger(percent * 4);
  return (isTie && hundredths % 2 === 0 ? hundredths / 100 : percent).toFixed(2);
}
