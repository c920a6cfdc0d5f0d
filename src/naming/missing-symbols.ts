import { perfMapPid } from '../base/names/jit-file-names.ts';
import type { Diagnostics, Severity } from '../base/problems/diagnostics.ts';
import type { OptionWords } from '../base/problems/option-words.ts';
import { commaList } from '../base/text/word-list.ts';
import type { DsoSymbols } from './dso-symbols.ts';
import { symbolHelp } from './symbol-help.ts';

/** How many names a warning gives. */
const SHOWN_NAMES = 3;
/** The longest name or place that a warning shows completely: paths may have 4 KB, and a warning has several. */
const MAX_SHOWN_LETTERS = 160;
/** The least share of all samples for which a warning says that a DSO's symbols do not cover all of its code. */
const NOTABLE_SHARE = 0.01;

/**
 * Reports the DSOs for which no symbols were found (`no-symbols`) or too few (`few-symbols`), with one warning each. It names the DSOs with the most unnamed
 * samples and says what would help with the first. If a warning would have too many names, a note lists them all.
 */
export function reportMissingSymbols(dsos: readonly DsoSymbols[], diagnostics: Diagnostics): void {
  const unnamed = dsos.filter(isExpectedToHaveNames).sort((a, b) => b.unnamedSamples - a.unnamedSamples);
  const none = unnamed.filter((dso) => !hasSymbols(dso));
  const few = unnamed.filter((dso) => hasSymbols(dso) && dso.unnamedSamples > 0 && dso.unnamedSamples >= NOTABLE_SHARE * dso.allSamples);
  const { option } = diagnostics;
  if (none.length > 0) {
    diagnostics.set('no-symbols', severity(none, dsos, option), `no symbols found for ${listed(none)}${help(none, dsos, option)}`);
    if (none.length > SHOWN_NAMES) diagnostics.set('no-symbols-names', 'info', `no symbols found for: ${none.map(({ name }) => name).join(', ')}`);
  }
  if (few.length > 0) diagnostics.set('few-symbols', severity(few, dsos, option), `symbols do not cover all code of ${listed(few)}${help(few, dsos, option)}`);
}

/** A note if nothing would help. */
function severity([first]: readonly DsoSymbols[], dsos: readonly DsoSymbols[], option: OptionWords): Severity {
  return symbolHelp(first, dsos, option) === '' ? 'info' : 'warning';
}

function hasSymbols({ namedLocations, places }: DsoSymbols): boolean {
  return namedLocations > 0 || places.some(({ uses }) => uses.includes('symbols'));
}

/** Memory without code, and code that no perf map can name, is not expected to have names. */
function isExpectedToHaveNames({ kind, unnamedSamples, name }: DsoSymbols): boolean {
  return kind !== 'anon' || (unnamedSamples > 0 && perfMapPid(name) !== undefined);
}

function listed(dsos: readonly DsoSymbols[]): string {
  const names = dsos.map((dso, i) => `${shortened(dso.name)} (${share(dso, i === 0)})`);
  return commaList(names, SHOWN_NAMES);
}

function share({ unnamedSamples, allSamples }: DsoSymbols, isFirst: boolean): string {
  if (unnamedSamples === 0) return 'callers only';
  const percent = (100 * unnamedSamples) / allSamples;
  return `${percent < 0.1 ? '< 0.1' : percent.toFixed(1)} %${isFirst ? ' of the samples' : ''}`;
}

function help([first]: readonly DsoSymbols[], dsos: readonly DsoSymbols[], option: OptionWords): string {
  const text = symbolHelp(first, dsos, option).replace(/[^ ]+/g, shortened);
  return text === '' ? '' : `; for ${shortened(first.name.replace(/^.*\//, ''))}: ${text}`;
}

/** Cuts the middle out of a name that is too long, since names differ at their ends. */
function shortened(name: string): string {
  const half = MAX_SHOWN_LETTERS / 2;
  return name.length <= MAX_SHOWN_LETTERS ? name : `${name.slice(0, half)}…${name.slice(-half)}`;
}
