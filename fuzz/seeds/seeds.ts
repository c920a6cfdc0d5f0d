import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../project-root.ts';
import { encodedSeeds } from './encoded-seeds.ts';
import { type InputFiles, isDirectory, SEED_KINDS, type Seed, type SeedKind, SINGLE_FILE } from './seed.ts';

/** Larger fixtures are left out: they take long and contain little that the encoder's recordings do not. */
const MAX_FIXTURE_BYTES = 24 << 10;
const MAX_CORPUS_BYTES = 64 << 10;

const FEATURE_TRACING_DATA = 1;
const FEATURE_COMPRESSED = 27;
const FEATURE_SIMPLEPERF = 128;

/**
 * The recordings to start from: the encoder's, the project's fixtures, and the files of a corpus if there is one. Their
 * order is the same everywhere.
 *
 * @param corpus folder of further recordings; empty for none
 */
export function collectSeeds(corpus: string): Seed[] {
  return [
    ...encodedSeeds(),
    ...filesOf(join(projectRoot(), 'fixtures'), MAX_FIXTURE_BYTES),
    ...(corpus === '' ? [] : filesOf(join(corpus, 'files'), MAX_CORPUS_BYTES)),
  ];
}

/** The seeds by kind. Kinds without seeds are left out. */
export function seedsByKind(seeds: readonly Seed[]): ReadonlyMap<SeedKind, readonly Seed[]> {
  const byKind = SEED_KINDS.map((kind): [SeedKind, Seed[]] => [kind, seeds.filter((seed) => seed.kind === kind)]);
  return new Map(byKind.filter(([, list]) => list.length > 0));
}

/** Reads an input from a file, or from a directory with the files of a recording. */
export function readInput(path: string): InputFiles {
  if (!statSync(path).isDirectory()) return new Map([[SINGLE_FILE, new Uint8Array(readFileSync(path))]]);
  const names = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(names.map(({ name }): [string, Uint8Array] => [name, new Uint8Array(readFileSync(join(path, name)))]).sort());
}

function filesOf(folder: string, maxBytes: number): Seed[] {
  const isRecording = (name: string): boolean => /\.(data|perf)/.test(name) || name.includes('perf_data');
  return readdirSync(folder)
    .filter(isRecording)
    .sort()
    .map((name): Seed => {
      const files = readInput(join(folder, name));
      return { kind: kindOf(files), name, files };
    })
    .filter(({ files }) => [...files.values()].reduce((sum, bytes) => sum + bytes.length, 0) <= maxBytes);
}

function kindOf(files: InputFiles): SeedKind {
  if (isDirectory(files)) return 'directory';
  const bytes = Buffer.from(files.get(SINGLE_FILE) ?? []);
  const magic = bytes.toString('latin1', 0, 8);
  if (magic === '2ELIFREP') return 'big-endian';
  if (magic === 'PERFFILE') return 'v1';
  if (magic !== 'PERFILE2') return 'wrapped';
  if (bytes.length >= 16 && bytes.readBigUInt64LE(8) === 16n) return 'pipe';
  const has = (bit: number): boolean => ((bytes[72 + (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0;
  if (has(FEATURE_SIMPLEPERF)) return 'simpleperf';
  if (has(FEATURE_COMPRESSED)) return 'compressed';
  return has(FEATURE_TRACING_DATA) ? 'tracepoint' : 'file';
}
