import type { Random } from '../random.ts';
import { type InputFiles, isDirectory, type SeedKind } from '../seeds/seed.ts';
import { type Command, commandFor } from './commands.ts';
import { OUTPUTS, type Output } from './output-checks.ts';
import { type Group, groupFor } from './totals-check.ts';

/** How an input is read, and what is written from it. */
export interface Plan {
  /** `memory`: bytes; `stream`: pieces of them, as from a pipe; `file`: from a disk. Only the last two decompress an input. */
  readonly way: 'memory' | 'stream' | 'file';
  /** Bytes per piece of a stream. */
  readonly pieceBytes: number;
  readonly outputs: readonly Output[];
  readonly compatPerf: boolean;
  readonly weight: 'period' | 'samples';
  /** Filter samples by a CPU and a time range. */
  readonly hasFilter: boolean;
  /** Print all fields of script instead of perf's default. */
  readonly hasAllFields: boolean;
  /** Merge the profile with itself. */
  readonly isMerged: boolean;
  /** `own`: the files beside the recording. */
  readonly symbols: 'none' | 'no files' | 'elf' | 'own';
  /** Add the time that threads spent off the CPU. */
  readonly hasOffCpuTimes: boolean;
  /** Compare the totals of all formats, with this grouping in speedscope. */
  readonly totals: Group | undefined;
  /** Run this command and check files and terminal output, instead of calling the library. */
  readonly command: Command | undefined;
  /** Unpacked size of the input, if it is much larger than the input, else 0. Time and memory may grow with it. */
  readonly unpackedBytes: number;
}

/** Without `records`, which takes long for millions of records. */
const OUTPUTS_OF_BOMBS = OUTPUTS.filter((output) => output !== 'records');

const PIECE_BYTES = [1 << 20, 4096, 1000, 64, 13];

/**
 * The plan of one input. Most read it from memory and write one output or none, since anything else takes longer than
 * reading.
 */
export function planOf(kind: SeedKind, random: Random, unpackedBytes = 0): Plan {
  return {
    way: wayOf(kind, random),
    pieceBytes: random.pick(PIECE_BYTES),
    outputs: random.oneIn(2) || isLarge(kind) ? [random.pick(kind === 'bombs' ? OUTPUTS_OF_BOMBS : OUTPUTS)] : [],
    compatPerf: random.oneIn(5),
    weight: random.oneIn(3) ? 'samples' : 'period',
    hasFilter: random.oneIn(10),
    hasAllFields: random.oneIn(2),
    isMerged: random.oneIn(16) && kind !== 'bombs',
    symbols: random.oneIn(16) ? random.pick(['no files', 'elf']) : kind === 'jit' || kind === 'symbols' || kind === 'unwind' ? 'own' : 'none',
    hasOffCpuTimes: random.oneIn(kind === 'times' || kind === 'simpleperf' ? 2 : 8),
    totals: random.oneIn(isLarge(kind) ? 40 : 8) && kind !== 'bombs' ? groupFor(random) : undefined,
    command: commandFor(kind, random),
    unpackedBytes,
  };
}

/** Kinds whose inputs are large: writing one output takes long enough, and is what matters. */
function isLarge(kind: SeedKind): boolean {
  return kind === 'long-names' || kind === 'forks' || kind === 'bombs';
}

function wayOf(kind: SeedKind, random: Random): Plan['way'] {
  if (kind === 'wrapped' || kind === 'bombs') return random.pick(['file', 'stream']);
  if (!random.oneIn(12)) return 'memory';
  return kind === 'directory' ? 'file' : random.pick(['file', 'stream']);
}

/** Plans that together try everything on an input. For saved findings, where speed does not matter. */
export function thoroughPlans(files: InputFiles): Plan[] {
  const ways: readonly Plan['way'][] = isDirectory(files) ? ['memory', 'file'] : ['memory', 'stream', 'file'];
  const plain: Plan = {
    way: ways[0],
    pieceBytes: 13,
    outputs: OUTPUTS,
    compatPerf: false,
    weight: 'period',
    hasFilter: false,
    hasAllFields: false,
    isMerged: false,
    symbols: 'none',
    hasOffCpuTimes: false,
    totals: 'thread',
    command: undefined,
    unpackedBytes: 0,
  };
  return [
    ...ways.map((way): Plan => ({ ...plain, way })),
    { ...plain, compatPerf: true, weight: 'samples', symbols: 'elf' },
    { ...plain, hasFilter: true, hasAllFields: true, isMerged: true, symbols: 'no files', hasOffCpuTimes: true },
    { ...plain, symbols: 'own' },
  ];
}
