import { decodeText } from '../src/base/text.ts';
import { type DemangleStyle, demangle } from '../src/demangle/demangle.ts';

const STYLES: readonly DemangleStyle[] = ['full', 'no-params', 'simple'];
const MAX_NAMES = 100;
/** Of the processor's time, for each name. */
const MAX_MS = 10;
const REPEATS = 5;

/**
 * Demangles the names in a file's bytes in all styles, wherever they stand.
 * @param isTimed whether a name that takes too long is wrong; tests must not hang on the clock
 * @returns what is wrong with one; undefined when nothing is
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
  // The clock of the wall tells cheaply whom to ask the processor's for.
  if (!isTimed || performance.now() - start <= MAX_MS || cpuMs(name, style) <= MAX_MS) return undefined;
  return `demangling takes more than ${MAX_MS} ms: ${JSON.stringify(name)} (${style})`;
}

/** The least time of some calls: the compiler is at work in the first ones. */
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
