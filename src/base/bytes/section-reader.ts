import { type NameLimit, withinLimit } from '../names/name-limits.ts';
import type { Diagnostics } from '../problems/diagnostics.ts';
import { PerfconvError } from '../problems/errors.ts';
import { type ExactInteger, exactInteger } from '../text/exact-integer.ts';
import type { ByteView } from './byte-view.ts';

/**
 * Adds one feature to what is known so far. A reader of a list puts the list into `features` before filling it, so that if a section is cut off, what is before
 * the damage is kept.
 */
export type FeatureReader<Features> = (features: Features, section: SectionReader) => void;

/** Readers by feature bit. A table for fewer features fits wherever one for all of them is expected. */
export type FeatureReaders<Features> = Readonly<Record<number, FeatureReader<Features>>>;

/** Reads a section's values one after another; throws PerfconvError `damaged` if it ends too early. */
export class SectionReader {
  readonly view: ByteView;
  /** Where the section is in the input, for messages. */
  readonly fileOffset: number;
  /** Offset of the next value. */
  at = 0;
  readonly #feature: string;
  readonly #diagnostics: Diagnostics;

  /** @param feature what messages call it */
  constructor(view: ByteView, fileOffset: number, feature: string, diagnostics: Diagnostics) {
    this.view = view;
    this.fileOffset = fileOffset;
    this.#feature = feature;
    this.#diagnostics = diagnostics;
  }

  /** How many bytes are left. */
  get remaining(): number {
    return this.view.length - this.at;
  }

  /** Whether the whole section is one string of {@link string}. */
  get isOneString(): boolean {
    const { view } = this;
    return view.length > 4 && view.u32(0) === view.length - 4 && view.bytes.indexOf(0, 4) === view.length - 1;
  }

  u32(): number {
    return this.view.u32(this.#step(4));
  }

  i32(): number {
    return this.view.i32(this.#step(4));
  }

  u64(): bigint {
    return this.view.big(this.#step(8));
  }

  /** A u64 to be shown. */
  exact(): ExactInteger {
    return exactInteger(this.u64());
  }

  /** A u64 as a double: exact up to 2^53. For sizes and counts of what follows. */
  size(): number {
    return this.view.u64(this.#step(8));
  }

  /** A string as perf writes it: u32 length, which includes padding with NULs. */
  string(): string {
    const start = this.#step(this.u32());
    return this.view.text(start, this.at);
  }

  /** A name from an offset; cut, and that reported, if it is longer than such names can be. */
  limited(name: string, limit: NameLimit, at: number): string {
    return withinLimit(name, limit, this.#feature, this.fileOffset + at, this.#diagnostics);
  }

  /** Steps over `bytes` bytes. @returns the offset of the first */
  skip(bytes: number): number {
    return this.#step(bytes);
  }

  /** Appends `count` values to `list`. The count is not trusted: the list grows with what is actually there, since every value takes bytes of the section. */
  fill<T>(list: T[], count: number, read: () => T): void {
    for (let i = 0; i < count; i++) list.push(read());
  }

  /** A u32 count and that many strings. */
  strings(list: string[]): void {
    this.fill(list, this.u32(), () => this.string());
  }

  #step(bytes: number): number {
    if (bytes > this.remaining) throw new PerfconvError('damaged', 'value overruns section');
    const start = this.at;
    this.at += bytes;
    return start;
  }
}
