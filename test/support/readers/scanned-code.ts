import type { UnwindMachine } from '../../../src/unwind/machines/unwind-machine.ts';
import { assembleExidx } from '../builders/unwind/exidx-assembler.ts';
import { MadeSpace } from '../builders/unwind/made-process.ts';
import { madeModule } from '../builders/unwind/unwound.ts';

export const BIAS = 0x4000_0000;
export const SP = 0x7fff_0000;
export const START = 0x1000;

/** Pieces of code by svma, as an assembler lists them: halves of 16 bits, or words of 32. */
export type Code = Readonly<Record<number, string>>;

/** The bytes of a file with these pieces. Elsewhere is `fill`. */
export function textOf(pieces: Code, fill: readonly number[]): Uint8Array {
  const text = Uint8Array.from({ length: 0x1000 }, (_, i) => fill[i % fill.length]);
  for (const [svma, listing] of Object.entries(pieces)) {
    const bytes = listing.split(' ').flatMap((word) => word.match(/../g)?.reverse() ?? []);
    text.set(
      bytes.map((byte) => Number.parseInt(byte, 16)),
      Number(svma) - START,
    );
  }
  return text;
}

/** A process whose code is in one file, which has no rules for it unless `.ARM.exidx` gives these. */
export async function spaceOf(machine: UnwindMachine, pieces: Code, fill: readonly number[], rules?: number[]): Promise<MadeSpace> {
  const sections = rules === undefined ? [] : assembleExidx([[START, { inline: rules }]], 0x4000, 0x5000);
  return new MadeSpace().map(BIAS, BIAS + 0x8000, await madeModule(machine, [{ svma: START, bytes: textOf(pieces, fill) }], sections), BIAS);
}

/** The frames at svmas of that file, as {@link unwound} shows them: a leaf and its callers. */
export function frames(...svmas: number[]): string[] {
  return svmas.map((at, i) => `${i > 0 ? '' : '!'}${(BIAS + at).toString(16)}`);
}
