import { fileName } from './file-name.ts';
import type { FunctionWeights } from './function-weights.ts';
import { type CodeFunction, functionOf, isInlined, type Recording } from './recording.ts';

/** What functions of two recordings have to have in common to be the same one, from much to little. */
const KEYS: readonly ((one: CodeFunction) => string)[] = [
  (one) => `${one.fullName}\0${fileName(one.binary)}\0${fileName(one.place.replace(/:\d+$/, ''))}`,
  (one) => `${one.fullName}\0${fileName(one.binary)}`,
  ({ fullName }) => fullName,
];

/**
 * The same recording in which functions of the base have become those of the other samples that are the same: programs are built in other directories, and code
 * made at run time is in files with the numbers of processes. A function that only the base has is the one that only the other samples have of its name, binary
 * and source file without their directories; if there is none, of its name and binary; of its name. If there are several, it is none of them.
 * @param base weights in the base @param other weights in the samples that are compared with it @returns the recording itself if no function has become another
 */
export function withCounterparts(recording: Recording, base: FunctionWeights, other: FunctionWeights): Recording {
  const { code, functions } = recording;
  const counterparts = findCounterparts(functions, base, other);
  if (counterparts.size === 0) return recording;
  const become = (one: number): number => 2 * (counterparts.get(functionOf(one)) ?? functionOf(one)) + (isInlined(one) ? 1 : 0);
  return { ...recording, code: code.map(become) };
}

/** By function that only the base has: the same function in the other samples. */
function findCounterparts(functions: readonly CodeFunction[], base: FunctionWeights, other: FunctionWeights): ReadonlyMap<number, number> {
  const onlyIn = (those: FunctionWeights, others: FunctionWeights): Set<number> =>
    new Set([...functions.keys()].filter((one) => functions[one].kind !== 'group' && those.total[one] > 0 && others.total[one] === 0));
  const [gone, added] = [onlyIn(base, other), onlyIn(other, base)];
  const counterparts = new Map<number, number>();
  for (const key of KEYS) {
    const keyOf = (one: number): string => key(functions[one]);
    const candidates = singles(added, keyOf);
    for (const [name, one] of singles(gone, keyOf)) {
      const counterpart = candidates.get(name);
      if (counterpart === undefined) continue;
      counterparts.set(one, counterpart);
      gone.delete(one);
      added.delete(counterpart);
    }
  }
  return counterparts;
}

/** Functions by their keys, without those that share theirs. */
function singles(functions: ReadonlySet<number>, keyOf: (one: number) => string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const shared = new Set<string>();
  for (const one of functions) {
    const key = keyOf(one);
    if (found.has(key)) shared.add(key);
    found.set(key, one);
  }
  for (const key of shared) found.delete(key);
  return found;
}
