import { OUTPUTS, type Output } from './output-checks.ts';
import type { Random } from './random.ts';
import { type InputFiles, isDirectory } from './seed.ts';

/** How an input is read, and what is made of it. */
export interface Plan {
  /** `memory`: bytes; `stream`: pieces of them, as a pipe gives them; `file`: from a disk, as it is the only way for a directory. */
  readonly way: 'memory' | 'stream' | 'file';
  /** Bytes in each piece of a stream. */
  readonly pieceBytes: number;
  readonly outputs: readonly Output[];
  readonly compatPerf: boolean;
  readonly weight: 'period' | 'samples';
  /** Take only samples of this CPU and of a range of time. */
  readonly hasFilter: boolean;
  readonly symbols: 'none' | 'no files' | 'elf';
}

const WAYS: readonly Plan['way'][] = ['memory', 'memory', 'memory', 'memory', 'memory', 'memory', 'stream', 'file'];
const PIECE_BYTES = [1 << 20, 4096, 1000, 64, 13];

/** The plan of one input: mostly one output, for they cost more than reading does. */
export function planOf(files: InputFiles, random: Random): Plan {
  return {
    way: isDirectory(files) ? 'file' : random.pick(WAYS),
    pieceBytes: random.pick(PIECE_BYTES),
    outputs: [random.pick(OUTPUTS)],
    compatPerf: random.oneIn(5),
    weight: random.oneIn(3) ? 'samples' : 'period',
    hasFilter: random.oneIn(10),
    symbols: random.oneIn(6) ? random.pick(['no files', 'elf']) : 'none',
  };
}

/** Plans that between them do everything to an input: for saved findings, where speed does not matter. */
export function thoroughPlans(files: InputFiles): Plan[] {
  const ways: readonly Plan['way'][] = isDirectory(files) ? ['file'] : ['memory', 'stream', 'file'];
  const plain: Plan = { way: ways[0], pieceBytes: 13, outputs: OUTPUTS, compatPerf: false, weight: 'period', hasFilter: false, symbols: 'none' };
  return [
    ...ways.map((way): Plan => ({ ...plain, way })),
    { ...plain, compatPerf: true, weight: 'samples', symbols: 'elf' },
    { ...plain, hasFilter: true, symbols: 'no files' },
  ];
}
