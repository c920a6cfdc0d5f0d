import { type CodeFunction, functionOf, type Recording, ROOT } from './recording.ts';
import { TextSearch } from './text-search.ts';

/** By function: 1 if its name contains the text, whatever the case; undefined for an empty text. */
export function matchFunctions(functions: readonly CodeFunction[], text: string): Uint8Array | undefined {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return undefined;
  const search = new TextSearch(wanted);
  const isIn = (name: string): boolean => search.isIn(name.toLowerCase());
  return Uint8Array.from(functions, ({ fullName, name }) => (isIn(name) || (fullName !== name && isIn(fullName)) ? 1 : 0));
}

/** The weight of the samples with a match in their stacks. Each counts once, however many of its functions match. @param self by node */
export function matchedWeight({ caller, code }: Recording, self: Float64Array, matches: Uint8Array): number {
  const isMatched = new Uint8Array(self.length);
  let sum = 0;
  for (let node = 0; node < self.length; node++) {
    const isBelow = caller[node] !== ROOT && isMatched[caller[node]] === 1;
    if (!isBelow && matches[functionOf(code[node])] === 0) continue;
    isMatched[node] = 1;
    sum += self[node];
  }
  return sum;
}
