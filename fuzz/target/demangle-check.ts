import { decodeText } from '../../src/base/text/text.ts';
import { type DemangleStyle, demangle } from '../../src/demangle/demangle.ts';

const STYLES: readonly DemangleStyle[] = ['full', 'no-params', 'simple'];
const MAX_NAMES = 100;
/** Maximum CPU time per name, in milliseconds. */
const MAX_MS = 10;
const REPEATS = 5;

/**
 * Demangles all mangled names found anywhere in a file, in all styles.
 * @param isTimed whether a name that takes too long is a failure; not in tests, which must not depend on time
 * @returns what is wrong with a name; undefined if nothing is
 */
export function demanglingFault(bytes: Uint8Array, isTimed: boolean): string | undefined {
  let count = 0;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  for (const [match] of text.matchAll(/(?:_Z|_R)[^\0]+/g)) {
    if (count++ === MAX_NAMES) break;
    const name = decodeText(Buffer.from(match, 'latin1'));
    const fault = STYLES.map((style) => faultOf(name, style, isTimed)).find((found) => found !== undefined);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOf(name: string, style: DemangleStyle, isTimed: boolean): string | undefined {
  const start = performance.now();
  const result: unknown = demangle(name, style);
  if (result !== undefined && typeof result !== 'string') return `demangling gives ${typeof result}`;
  // Wall time is cheap to measure, and selects the names whose CPU time is worth measuring.
  if (!isTimed || performance.now() - start <= MAX_MS || cpuMs(name, style) <= MAX_MS) return undefined;
  return `demangling takes more than ${MAX_MS} ms: ${JSON.stringify(name)} (${style})`;
}

/** The shortest time of several calls, since the first ones include compilation. */
function cpuMs(name: string, style: DemangleStyle): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < REPEATS; i++) {
    const start = process.cpuUsage();
    demangle(name, style);
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}
