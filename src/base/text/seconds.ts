/** Nanoseconds as seconds with nine decimals, like the times of perf script. @param ns not negative; a text in decimal */
export function secondsText(ns: bigint | string): string {
  const text = String(ns).padStart(10, '0');
  return `${text.slice(0, -9)}.${text.slice(-9)}`;
}
