import type { ScriptFrame, ScriptSample } from './perf-script-text.ts';

/** What differs between two texts of the same recording. */
export interface ScriptComparison {
  readonly samples: number;
  readonly frames: number;
  /** Samples of the expected text that the other lacks, and the other way round. */
  readonly missing: number;
  readonly extra: number;
  /** Samples whose comm, pid, tid, cpu, period or event differ. */
  readonly headers: number;
  /** Samples whose chains differ in length. */
  readonly chainLengths: number;
  /** In chains of equal length, how many frames differ in ip, symbol or DSO. */
  readonly frameDifferences: number;
  readonly ips: number;
  readonly symbols: number;
  readonly dsos: number;
  /** Tracepoint samples whose decoded text differs. Not a difference of the sample. */
  readonly traceTexts: number;
  /** Runs of samples of one time that are in another order. Not a difference. */
  readonly permutedTies: number;
  /** The first differences, for people to read. */
  readonly first: readonly string[];
}

/** How many differences are listed. */
const MAX_LISTED = 12;

/** Compares two lists of samples, in order except among samples of the same time. */
export function compareScripts(expected: readonly ScriptSample[], actual: readonly ScriptSample[]): ScriptComparison {
  const comparer = new ScriptComparer(expected);
  const left = groupByTime(expected);
  const right = groupByTime(actual);
  for (let i = 0, k = 0; i < left.length || k < right.length; ) {
    const a = left[i];
    const b = right[k];
    const order = !a ? 1 : !b ? -1 : compareTimes(a.time, b.time);
    if (order === 0 && a && b) {
      comparer.compareGroups(a.samples, b.samples);
      i++;
      k++;
    } else if (order < 0 && a) {
      comparer.addMissing(a.samples);
      i++;
    } else if (b) {
      comparer.addExtra(b.samples);
      k++;
    }
  }
  return comparer.found;
}

class ScriptComparer {
  readonly found: { -readonly [Name in keyof ScriptComparison]: ScriptComparison[Name] };
  readonly #first: string[] = [];

  constructor(expected: readonly ScriptSample[]) {
    this.found = {
      samples: expected.length,
      frames: expected.reduce((sum, sample) => sum + sample.frames.length, 0),
      missing: 0,
      extra: 0,
      headers: 0,
      chainLengths: 0,
      frameDifferences: 0,
      ips: 0,
      symbols: 0,
      dsos: 0,
      traceTexts: 0,
      permutedTies: 0,
      first: this.#first,
    };
  }

  addMissing(samples: readonly ScriptSample[]): void {
    this.found.missing += samples.length;
    for (const sample of samples) this.#list(`missing: ${describe(sample)}`);
  }

  addExtra(samples: readonly ScriptSample[]): void {
    this.found.extra += samples.length;
    for (const sample of samples) this.#list(`extra: ${describe(sample)}`);
  }

  /** Pairs samples of one time: first equal ones, then those with equal headers, then the rest in their order. */
  compareGroups(a: readonly ScriptSample[], b: readonly ScriptSample[]): void {
    if (a.length === b.length && a.every((sample, index) => wholeKey(sample) === wholeKey(b[index]))) {
      for (const [index, sample] of a.entries()) this.#comparePair(sample, b[index]);
      return;
    }
    if (isPermuted(a, b)) this.found.permutedTies++;
    const restA = [...a];
    const restB = [...b];
    for (const key of [wholeKey, headerKey]) {
      for (let n = 0; n < restA.length; ) {
        const sample = restA[n];
        const match = restB.findIndex((other) => key(other) === key(sample));
        if (match < 0) {
          n++;
          continue;
        }
        this.#comparePair(sample, restB[match]);
        restA.splice(n, 1);
        restB.splice(match, 1);
      }
    }
    while (restA.length > 0 && restB.length > 0) this.#comparePair(restA.shift()!, restB.shift()!);
    this.addMissing(restA);
    this.addExtra(restB);
  }

  #comparePair(a: ScriptSample, b: ScriptSample): void {
    const { found } = this;
    if (headerKey(a) !== headerKey(b)) {
      found.headers++;
      this.#list(`sample differs\n  expected ${describe(a)}\n  actual   ${describe(b)}`);
    }
    if (a.trace !== b.trace) found.traceTexts++;
    if (a.frames.length !== b.frames.length) {
      found.chainLengths++;
      this.#list(`chain of ${a.frames.length} became ${b.frames.length} in ${describe(a)}\n${sideBySide(a.frames, b.frames)}`);
      return;
    }
    for (const [depth, frame] of a.frames.entries()) {
      const other = b.frames[depth];
      if (!other) continue;
      const differs = { ips: frame.ip !== other.ip, symbols: frame.symbol !== other.symbol, dsos: frame.dso !== other.dso };
      if (!differs.ips && !differs.symbols && !differs.dsos) continue;
      found.frameDifferences++;
      if (differs.ips) found.ips++;
      if (differs.symbols) found.symbols++;
      if (differs.dsos) found.dsos++;
      this.#list(`frame ${depth} differs in ${describe(a)}\n  expected ${frameText(frame)}\n  actual   ${frameText(other)} (line ${b.line})`);
    }
  }

  #list(text: string): void {
    if (this.#first.length < MAX_LISTED) this.#first.push(text);
  }
}

/** Whether two groups of samples of one time have the same headers, in another order. */
function isPermuted(a: readonly ScriptSample[], b: readonly ScriptSample[]): boolean {
  if (a.length < 2 || a.length !== b.length) return false;
  return a.map(headerKey).sort().join() === b.map(headerKey).sort().join() && a.some((sample, n) => headerKey(sample) !== headerKey(b[n]));
}

/** Whether every sample and chain length and at least `share` of the frames are equal. */
export function isAcceptable(comparison: ScriptComparison, share = 0.999): boolean {
  const { missing, extra, headers, chainLengths, frameDifferences, frames } = comparison;
  return missing + extra + headers + chainLengths === 0 && frameDifferences <= frames * (1 - share);
}

/** One line of numbers and, if anything differs, the first differences. */
export function describeComparison(comparison: ScriptComparison): string {
  const { first, ...numbers } = comparison;
  const line = Object.entries(numbers)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
  return [line, ...first].join('\n');
}

interface TimeGroup {
  readonly time: string | undefined;
  readonly samples: ScriptSample[];
}

function groupByTime(samples: readonly ScriptSample[]): TimeGroup[] {
  const groups: TimeGroup[] = [];
  for (const sample of samples) {
    const last = groups.at(-1);
    // Without a time column, every sample is a group of its own: only the order is known.
    if (last && sample.time !== undefined && last.time === sample.time) last.samples.push(sample);
    else groups.push({ time: sample.time, samples: [sample] });
  }
  return groups;
}

function compareTimes(a: string | undefined, b: string | undefined): number {
  if (a === b || a === undefined || b === undefined) return 0;
  const difference = nanoseconds(a) - nanoseconds(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function nanoseconds(time: string): bigint {
  const [seconds = '0', fraction = ''] = time.split('.');
  return BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
}

function headerKey({ comm, pid, tid, cpu, time, period, event }: ScriptSample): string {
  return JSON.stringify([comm, pid, tid, cpu, time, period, event]);
}

function wholeKey(sample: ScriptSample): string {
  return headerKey(sample) + sample.frames.map(frameText).join('\n');
}

function describe({ line, comm, pid, tid, cpu, time, period, event }: ScriptSample): string {
  const task = pid === undefined ? tid : `${pid}/${tid}`;
  return `line ${line}: ${comm} ${task} ${cpu === undefined ? '' : `[${cpu}] `}${time ?? '-'}: ${period ?? '-'} ${event}`;
}

function frameText(frame: ScriptFrame): string {
  return `${frame.ip} ${frame.symbol} (${frame.dso})`;
}

function sideBySide(expected: readonly ScriptFrame[], actual: readonly ScriptFrame[]): string {
  const text = (frames: readonly ScriptFrame[]): string => frames.map((frame) => `    ${frameText(frame)}`).join('\n');
  return `  expected\n${text(expected)}\n  actual\n${text(actual)}`;
}
