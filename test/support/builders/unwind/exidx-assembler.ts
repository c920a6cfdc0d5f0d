import { ByteFields } from '../byte-fields.ts';
import type { PlannedElfSection } from '../elf/section-elf.ts';

/**
 * How a function is unwound: not at all; by up to three bytes in the index itself; by a description in `.ARM.extab`, for one of the ABI's personality
 * routines or for a language's own.
 */
export type PlannedExidx =
  | 'cantunwind'
  | { readonly inline: readonly number[] }
  | { readonly personality: 0 | 1 | 2 | 'generic'; readonly bytes: readonly number[] };

const FINISH = 0xb0;

/** `.ARM.exidx` and `.ARM.extab`, from the words of the Exception Handling ABI for the Arm Architecture. */
export function assembleExidx(functions: readonly (readonly [start: number, PlannedExidx])[], indexAddr: number, extabAddr: number): PlannedElfSection[] {
  const index = new ByteFields();
  const extab = new ByteFields();
  const prel31 = (target: number, place: number): number => (target - place) & 0x7fff_ffff;
  for (const [start, plan] of functions) {
    index.u32(prel31(start, indexAddr + index.length));
    if (plan === 'cantunwind') index.u32(1);
    else if ('inline' in plan) index.u32(0x8000_0000 + word([0, ...padded(plan.inline, 3)]));
    else {
      index.u32(prel31(extabAddr + extab.length, indexAddr + index.length));
      describe(extab, plan.personality, plan.bytes, extabAddr);
    }
  }
  return [
    { name: '.ARM.exidx', type: 0x7000_0001, flags: 2, addr: indexAddr, content: index.done() },
    { name: '.ARM.extab', flags: 2, addr: extabAddr, content: extab.done() },
  ];
}

function describe(extab: ByteFields, personality: 0 | 1 | 2 | 'generic', bytes: readonly number[], extabAddr: number): void {
  const inFirst = personality === 1 || personality === 2 ? 2 : 3;
  const more = Math.max(0, Math.ceil((bytes.length - inFirst) / 4));
  const all = padded(bytes, inFirst + 4 * more);
  if (personality === 'generic') extab.u32((0x100 - (extabAddr + extab.length)) & 0x7fff_ffff).u32(word([more, ...all.slice(0, 3)]));
  else if (personality === 0) extab.u32(0x8000_0000 + word([0, ...all.slice(0, 3)]));
  else extab.u32(0x8000_0000 + word([personality, more, ...all.slice(0, 2)]));
  for (let at = inFirst; at < all.length; at += 4) extab.u32(word(all.slice(at, at + 4)));
}

function padded(bytes: readonly number[], length: number): number[] {
  return [...bytes, ...new Array<number>(length).fill(FINISH)].slice(0, Math.max(length, bytes.length));
}

/** Instructions are in words, the first one in the highest byte. */
function word([a, b, c, d]: readonly number[]): number {
  return a * 0x100_0000 + (b << 16) + (c << 8) + d;
}
