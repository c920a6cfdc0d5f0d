import type { UnwindMachine } from '../../../../src/unwind/machines/unwind-machine.ts';
import { MadeSpace } from './made-process.ts';
import { madeModule } from './unwound.ts';

// The highest bits of their lower halves are set.
export const BIAS = 0x5500_f000_0000;
export const SP = 0x7fff_f000_1000;
export const START = 0x1000;

/** A file without rules, whose code is one byte repeated, except for pieces at some svmas. */
export async function space(machine: UnwindMachine, pieces: Readonly<Record<number, readonly number[]>>, fill = 0x90, bias = BIAS): Promise<MadeSpace> {
  const bytes = new Uint8Array(0x1000).fill(fill);
  for (const [svma, piece] of Object.entries(pieces)) bytes.set(piece, Number(svma) - START);
  return new MadeSpace().map(bias, bias + 0x10000, await madeModule(machine, [{ svma: START, bytes }]), bias);
}

/** A direct call of a function at an svma, before a return address. */
export function callTo(target: number, returnAddress: number): Readonly<Record<number, readonly number[]>> {
  const distance = target - returnAddress;
  return { [returnAddress - 5]: [0xe8, distance & 0xff, (distance >> 8) & 0xff, (distance >> 16) & 0xff, distance >> 31] };
}

/** The frames of a stack, by their svmas, as `unwound` shows them: `!` marks those that are no callers. */
export function frames(...addresses: number[]): string[] {
  return addresses.map((at, i) => `${i ? '' : '!'}${(BIAS + at).toString(16)}`);
}

/** The same for a stack that was made: its last address comes after no call. */
export function made(...addresses: number[]): string[] {
  return frames(...addresses).map((address, i) => (i === addresses.length - 1 ? `!${address}` : address));
}
