import { CODE_KINDS, type CodeKind, type PageData, type PageHead } from '../../src/writers/html/page-data.ts';

/** What is above all outermost frames. */
export const ROOT = -1;

/** A function, ready to be shown. */
export interface CodeFunction {
  readonly name: string;
  /** With its parameters; equal to `name` if there is no more to say. */
  readonly fullName: string;
  /** `file.c:12`, `file.c`, or empty. */
  readonly place: string;
  /** Path of the binary, `[kernel.kallsyms]`; empty for code that is in none. */
  readonly binary: string;
  /** `group` for a process or thread that stands above its stacks. */
  readonly kind: CodeKind | 'group';
}

/** The samples of one event in one thread: parallel columns, by node. */
export interface ThreadTotals {
  readonly event: number;
  readonly thread: number;
  readonly node: Uint32Array;
  readonly samples: Float64Array;
  readonly period: Float64Array;
}

/** What the page shows, as tables in memory. */
export interface Recording extends PageHead {
  readonly functions: readonly CodeFunction[];
  /** By node: its caller's node, which is smaller, or {@link ROOT}. */
  readonly caller: Int32Array;
  /** By node: its code, which is the index of a function times 2, plus 1 if it was inlined. */
  readonly code: Uint32Array;
  readonly totals: readonly ThreadTotals[];
}

/** The function of a code, and whether it was inlined. */
export const functionOf = (code: number): number => code >>> 1;
export const isInlined = (code: number): boolean => (code & 1) === 1;

/** Makes tables of the page's data. */
export function readRecording(data: PageData): Recording {
  const { functions, nodes, strings, totals, ...head } = data;
  return {
    ...head,
    functions: functions.name.map((name, index): CodeFunction => {
      const file = strings[functions.file[index]];
      const line = functions.line[index];
      return {
        name: strings[name],
        fullName: strings[functions.fullName[index] || name],
        place: file === '' || line === 0 ? file : `${file}:${line}`,
        binary: strings[functions.binary[index]],
        kind: CODE_KINDS[functions.kind[index]],
      };
    }),
    caller: callersOf(nodes.caller),
    code: Uint32Array.from(nodes.code),
    totals: totals.map(({ event, thread, node, samples, period }): ThreadTotals => {
      return { event, thread, node: ascending(node), samples: Float64Array.from(samples), period: Float64Array.from(period) };
    }),
  };
}

/** By node: its caller. */
function callersOf(distances: readonly number[]): Int32Array {
  const caller = Int32Array.from(distances);
  // hot
  for (let node = 0; node < caller.length; node++) caller[node] = caller[node] === 0 ? ROOT : node - caller[node];
  return caller;
}

function ascending(distances: readonly number[]): Uint32Array {
  const values = Uint32Array.from(distances);
  // hot
  for (let at = 1; at < values.length; at++) values[at] += values[at - 1];
  return values;
}
