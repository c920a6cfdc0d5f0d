import { type ExactInteger, exactInteger } from '../text/exact-integer.ts';
import { LIBRARY_OPTIONS, type OptionWords } from './option-words.ts';

/**
 * - `info`: worth knowing, nothing is missing from the result
 * - `warning`: the result is right, but poorer than it could be (symbols missing, a field left out)
 * - `loss`: data of the recording did not reach the result; `--strict` ends with status 3
 */
export type Severity = 'info' | 'warning' | 'loss';

/** One kind of finding, counted. */
export interface Diagnostic {
  /** Stable and machine readable: `record-overrun`, `build-id-mismatch`. */
  readonly code: string;
  readonly severity: Severity;
  /** The sentence of the first finding of this kind, or one that sums up all of them. */
  readonly message: string;
  /** How often it was found, at least 1. Records may state 64-bit counts, whose sum may be more than a number holds exactly. */
  readonly count: ExactInteger;
  /** Byte offset in the input of the first finding; undefined if it belongs to no byte. */
  readonly firstOffset: number | undefined;
  /** How many bytes of the recording were lost by all findings of this kind; absent if they are not counted in bytes. */
  readonly bytes?: number;
}

/**
 * Collects findings by code: each kind once, with a count, the first sentence and the first offset.
 * Nothing is printed here; whoever runs the conversion reads {@link list} at the end.
 */
export class Diagnostics {
  /** How messages name options to those who read the findings. */
  readonly option: OptionWords;
  readonly #byCode = new Map<string, { -readonly [K in keyof Diagnostic]: Diagnostic[K] }>();

  constructor(option: OptionWords = LIBRARY_OPTIONS) {
    this.option = option;
  }

  /**
   * Counts `count` findings of a kind. `message` and `offset` are kept from the first call of each code.
   * @param count if 0, there is no finding: a record may say that nothing was lost
   */
  add(code: string, severity: Severity, message: string, offset?: number, count: number | bigint = 1): void {
    if (count === 0 || count === 0n) return;
    const known = this.#byCode.get(code);
    if (known) known.count = sumOf(known.count, count);
    else this.#byCode.set(code, { code, severity, message, count: sumOf(0, count), firstOffset: offset });
  }

  /** Counts one finding by which that many bytes of the recording were lost. */
  addBytes(code: string, severity: Severity, message: string, offset: number, bytes: number): void {
    this.add(code, severity, message, offset);
    const finding = this.#byCode.get(code);
    if (finding) finding.bytes = (finding.bytes ?? 0) + bytes;
  }

  /** Sets a finding that sums up: it replaces the previous one with its code, and counts once. */
  set(code: string, severity: Severity, message: string): void {
    this.#byCode.set(code, { code, severity, message, count: 1, firstOffset: undefined });
  }

  /** Adds what was found elsewhere. Counts and bytes of a kind add up; the first sentence and offset stay. */
  addAll(findings: Iterable<Diagnostic>): void {
    for (const { code, severity, message, firstOffset, count, bytes } of findings) {
      this.add(code, severity, message, firstOffset, BigInt(count));
      const finding = this.#byCode.get(code);
      if (finding && bytes !== undefined) finding.bytes = (finding.bytes ?? 0) + bytes;
    }
  }

  /** How often a code was found, rounded beyond 2^53; 0 if never. */
  count(code: string): number {
    return Number(this.#byCode.get(code)?.count ?? 0);
  }

  /** Whether data of the recording was lost on the way. */
  get hasLoss(): boolean {
    for (const diagnostic of this.#byCode.values()) if (diagnostic.severity === 'loss') return true;
    return false;
  }

  /** All kinds found, in the order of their first finding. */
  list(): readonly Diagnostic[] {
    return [...this.#byCode.values()];
  }
}

function sumOf(known: ExactInteger, more: number | bigint): ExactInteger {
  const sum = Number(known) + Number(more);
  return sum <= Number.MAX_SAFE_INTEGER ? sum : exactInteger(BigInt(known) + BigInt(more));
}
