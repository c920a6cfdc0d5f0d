import type { Random } from '../random.ts';
import { type Grown, hasRecords, type InputFiles, isDirectory, type Seed, SINGLE_FILE } from '../seeds/seed.ts';
import { BYTE_MUTATIONS } from './byte-mutations.ts';
import { bombElf, ELF_MUTATIONS, enlargeElf } from './elf-mutations.ts';
import { enlarge } from './enlarge.ts';
import { insertRecords, RECORD_MUTATIONS, spliceFiles } from './record-mutations.ts';
import { mutateUnwinding } from './unwind-mutations.ts';

/** Maximum size, larger than any seed. The rest is cut off, so that an input takes milliseconds. */
const MAX_FILE_BYTES = 96 << 10;
/** The same for binaries and debug files, in which a piece may be repeated many times. */
const MAX_SYMBOL_FILE_BYTES = 1_500_000;
const MAX_MUTATIONS = 12;
/** One in this many inputs is enlarged to a megabyte. */
const LARGE_ONE_IN = 1000;
const LARGE_SYMBOLS_ONE_IN = 60;
const BOMB_ONE_IN = 120;

/** Grown inputs are smaller than the maximum by up to this many powers of two. */
const MAX_SHRINKING = 8;
/** One in this many grown inputs is mutated as well. */
const DAMAGED_ONE_IN = 4;

/**
 * Makes an input from a seed. The result depends only on the arguments. The seed is not changed.
 * @param maxBytes largest size of grown inputs
 */
export function makeInput(seed: Seed, seeds: readonly Seed[], random: Random, maxBytes: number): Grown {
  if (seed.grow === undefined) return { files: mutate(seed, seeds, random) };
  const grown = seed.grow(random, Math.max(1024, random.oneIn(3) ? maxBytes : maxBytes >> random.below(MAX_SHRINKING)));
  if (!random.oneIn(DAMAGED_ONE_IN)) return grown;
  const files = new Map(grown.files);
  const name = random.pick([...files.keys()]);
  files.set(name, mutateFile((files.get(name) ?? new Uint8Array()).slice(), seeds, random));
  return { ...grown, files };
}

function mutate(seed: Seed, seeds: readonly Seed[], random: Random): InputFiles {
  if (seed.kind === 'symbols') return mutateSymbols(seed, random);
  if (seed.kind === 'unwind') return mutateUnwinding(seed, random);
  const files = new Map(seed.files);
  if (isDirectory(files) && random.oneIn(8)) mutateDirectory(files, random);
  const name = random.pick([...files.keys()]);
  let bytes: Uint8Array = (files.get(name) ?? new Uint8Array()).slice();
  for (let count = mutationCount(random); count > 0; count--) {
    bytes = hasRecords(files, name) ? mutateFile(bytes, seeds, random) : random.pick(BYTE_MUTATIONS)(bytes, random);
  }
  bytes = bytes.subarray(0, MAX_FILE_BYTES);
  files.set(name, random.oneIn(LARGE_ONE_IN) ? enlarge(bytes, random) : bytes);
  return files;
}

function mutateFile(bytes: Uint8Array, seeds: readonly Seed[], random: Random): Uint8Array {
  const choice = random.below(20);
  if (choice < 6) return random.pick(BYTE_MUTATIONS)(bytes, random);
  if (choice < 18) return random.pick(RECORD_MUTATIONS)(bytes, random);
  const { files } = random.pick(seeds);
  const other = files.get(random.pick([...files.keys()].filter((name) => hasRecords(files, name)))) ?? new Uint8Array();
  return choice === 18 ? insertRecords(bytes, other, random) : spliceFiles(bytes, other, random);
}

/** Mutates symbol files only. The recording stays valid, so that they are read. */
function mutateSymbols({ files: sound }: Seed, random: Random): InputFiles {
  const files = new Map(sound);
  const names = [...files.keys()].filter((name) => name !== SINGLE_FILE);
  for (let count = random.oneIn(4) ? 2 : 1; count > 0; count--) {
    const name = random.pick(names);
    let bytes: Uint8Array = (files.get(name) ?? new Uint8Array()).slice();
    if (random.oneIn(LARGE_SYMBOLS_ONE_IN)) bytes = enlargeElf(bytes, random);
    else if (random.oneIn(BOMB_ONE_IN)) bytes = bombElf(bytes, random);
    for (let mutations = mutationCount(random); mutations > 0; mutations--) {
      bytes = random.pick(random.oneIn(6) ? BYTE_MUTATIONS : ELF_MUTATIONS)(bytes, random);
    }
    files.set(name, bytes.subarray(0, MAX_SYMBOL_FILE_BYTES));
  }
  return files;
}

/** Number of mutations, mostly one or two: reading a file with many errors ends early. */
function mutationCount(random: Random): number {
  let count = 1;
  while (count < MAX_MUTATIONS && random.oneIn(2)) count++;
  return count;
}

/** Makes files missing, empty, swapped or duplicated under odd names. */
function mutateDirectory(files: Map<string, Uint8Array>, random: Random): void {
  const name = random.pick([...files.keys()]);
  const other = random.pick([...files.keys()]);
  const bytes = files.get(name) ?? new Uint8Array();
  switch (random.below(4)) {
    case 0:
      if (files.size > 1) files.delete(name);
      break;
    case 1:
      files.set(name, new Uint8Array());
      break;
    case 2:
      files.set(name, files.get(other) ?? bytes);
      files.set(other, bytes);
      break;
    default:
      files.set(random.pick(['data.1', 'data.7', 'data.4294967296', 'data.00', 'data.-1', 'data.x']), bytes);
  }
}
