import type { SymbolTable } from './symbol-table.ts';
import { RANK_GLOBAL, RANK_LOCAL, RANK_WEAK, SymbolTableBuilder } from './symbol-table-builder.ts';

const NEWLINE = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;
const DOLLAR = 0x24;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const UPPER_W = 0x57;
const LOWER_CASE_BIT = 0x20;
const BITS_32 = 0x1_0000_0000;

/** The types that perf takes, either case: text, weak, data, BSS. Observed: perf 6.1. */
const KEPT_TYPES = new Set(['t', 'w', 'd', 'b'].map((letter) => letter.charCodeAt(0)));
const LATIN1 = new TextDecoder('latin1');

/**
 * The kernel's own symbol list, `/proc/kallsyms` or a copy of it: one line per symbol, `address type name`, and for
 * code outside the kernel image a tab and `[module]`; a module's real name, or `[bpf]`, `[__builtin__ftrace]` and the like.
 * Addresses are run-time addresses, as signed doubles.
 */
export class Kallsyms {
  readonly #bytes: Uint8Array;
  readonly #groups: ReadonlyMap<string, SymbolTableBuilder>;
  readonly #tables = new Map<string, SymbolTable | undefined>();
  /** Whether all addresses are zero: what the kernel shows to readers without privilege (kptr_restrict). */
  readonly isHidden: boolean;

  private constructor(bytes: Uint8Array, groups: ReadonlyMap<string, SymbolTableBuilder>, isHidden: boolean) {
    this.#bytes = bytes;
    this.#groups = groups;
    this.isHidden = isHidden;
  }

  /** Reads the whole list. `bytes` is kept. Lines that are not of the form are skipped. */
  static parse(bytes: Uint8Array): Kallsyms {
    const groups = new Map<string, SymbolTableBuilder>();
    const kernel = new SymbolTableBuilder(Math.min(bytes.length >>> 5, 1 << 20) + 1);
    groups.set('', kernel);
    let module = new Uint8Array();
    let moduleSymbols = kernel;
    let hasSymbols = false;
    let isHidden = true;
    const end = bytes.length;
    // hot
    for (let at = 0; at < end; ) {
      let digits = 0;
      let hi = 0;
      let lo = 0;
      for (; at < end; at++, digits++) {
        const digit = hexDigit(bytes[at]);
        if (digit < 0) break;
        hi = (hi << 4) | (lo >>> 28);
        lo = (lo << 4) | digit;
      }
      const type = bytes[at + 1];
      const nameAt = at + 3;
      const isLine = digits > 0 && nameAt < end && bytes[at] === SPACE && bytes[at + 2] === SPACE;
      let nameEnd = nameAt;
      if (isLine) while (nameEnd < end && bytes[nameEnd] > SPACE) nameEnd++;
      let lineEnd = isLine ? nameEnd : at;
      while (lineEnd < end && bytes[lineEnd] !== NEWLINE) lineEnd++;
      at = lineEnd + 1;
      if (!isLine || nameEnd === nameAt) continue;
      hasSymbols = true;
      if ((hi | lo) !== 0) isHidden = false;
      // Arm's mapping symbols start with a dollar; perf keeps none that do.
      if (!KEPT_TYPES.has(type | LOWER_CASE_BIT) || bytes[nameAt] === DOLLAR) continue;

      let symbols = kernel;
      let open = nameEnd;
      while (open < lineEnd && (bytes[open] === TAB || bytes[open] === SPACE)) open++;
      if (bytes[open] === OPEN && bytes[lineEnd - 1] === CLOSE) {
        if (!equals(bytes, open + 1, lineEnd - 1, module)) {
          module = bytes.slice(open + 1, lineEnd - 1);
          moduleSymbols = groupOf(groups, LATIN1.decode(module));
        }
        symbols = moduleSymbols;
      }
      const rank = type === UPPER_W ? RANK_WEAK : type & LOWER_CASE_BIT ? RANK_LOCAL : RANK_GLOBAL;
      symbols.add(hi * BITS_32 + (lo >>> 0), 0, nameAt, nameEnd - nameAt, rank);
    }
    return new Kallsyms(bytes, groups, hasSymbols && isHidden);
  }

  /** Names in the module column, without brackets. */
  get modules(): string[] {
    return [...this.#groups.keys()].filter((name) => name !== '');
  }

  /** The kernel image's symbols, each address moved by `shift`; undefined when there are none. Asked again, `shift` must be the same. */
  kernel(shift: number): SymbolTable | undefined {
    return this.#table('', shift);
  }

  /** The symbols whose module column says `name`, unmoved; undefined when there are none. `-` counts as `_`. */
  module(name: string): SymbolTable | undefined {
    return this.#table(canonicalModuleName(name), 0);
  }

  /** Run-time address of the first kernel symbol called `name`, whatever its type; undefined when there is none. */
  addressOf(name: string): number | undefined {
    const needle = new TextEncoder().encode(name);
    const bytes = this.#bytes;
    for (let from = 0; from < bytes.length; ) {
      const newline = bytes.indexOf(NEWLINE, from);
      const end = newline < 0 ? bytes.length : newline;
      const nameAt = bytes.indexOf(SPACE, from) + 3;
      if (nameAt > 3 && equals(bytes, nameAt, nameAt + needle.length, needle) && (nameAt + needle.length === end || bytes[nameAt + needle.length] <= SPACE)) {
        return addressAt(bytes, from);
      }
      from = end + 1;
    }
    return undefined;
  }

  #table(group: string, shift: number): SymbolTable | undefined {
    if (!this.#tables.has(group)) {
      const symbols = this.#groups.get(group);
      this.#tables.set(group, symbols && symbols.count > 0 ? symbols.build(this.#bytes, shift) : undefined);
    }
    return this.#tables.get(group);
  }
}

/** A module's name as the kernel spells it: `nf-tables` and `nf_tables` are the same module. */
function canonicalModuleName(name: string): string {
  return name.replaceAll('-', '_');
}

function groupOf(groups: Map<string, SymbolTableBuilder>, name: string): SymbolTableBuilder {
  const key = canonicalModuleName(name);
  let group = groups.get(key);
  if (group === undefined) {
    group = new SymbolTableBuilder(64);
    groups.set(key, group);
  }
  return group;
}

function equals(bytes: Uint8Array, from: number, to: number, other: Uint8Array): boolean {
  if (to - from !== other.length || to > bytes.length) return false;
  for (let i = 0; i < other.length; i++) if (bytes[from + i] !== other[i]) return false;
  return true;
}

function addressAt(bytes: Uint8Array, from: number): number {
  let hi = 0;
  let lo = 0;
  for (let at = from, digit = hexDigit(bytes[at]); digit >= 0; digit = hexDigit(bytes[++at])) {
    hi = (hi << 4) | (lo >>> 28);
    lo = (lo << 4) | digit;
  }
  return hi * BITS_32 + (lo >>> 0);
}

/** The value of an ASCII hex digit, −1 for another byte or none. */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | LOWER_CASE_BIT;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
