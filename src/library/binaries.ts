import type { OptionWords } from '../base/problems/option-words.ts';
import type { DsoSymbols } from '../naming/dso-symbols.ts';
import { symbolHelp } from '../naming/symbol-help.ts';

/** A binary that has addresses in a profile: how much of its code has names, and where these were looked for. */
export interface BinarySymbols extends Omit<DsoSymbols, 'mayAskServers'> {
  /** What would help to get what is missing, in words; empty if nothing is missing or nothing helps. */
  readonly help: string;
}

/** @param dsos all of a recording @param option how advice names options */
export function binarySymbols(dsos: readonly DsoSymbols[], option: OptionWords): BinarySymbols[] {
  return dsos.map((dso) => {
    const { mayAskServers: _, ...shown } = dso;
    return { ...shown, help: symbolHelp(dso, dsos, option) };
  });
}
