import { expect, test } from 'vitest';
import { ThumbGuess } from '../../../src/unwind/guess/thumb-guess.ts';
import { CodeBytes } from '../../../src/unwind/memory/code-bytes.ts';
import { ProcessMemory } from '../../../src/unwind/memory/process-memory.ts';
import { madeModule } from '../../support/builders/unwind/unwound.ts';

const START = 0x1000;
const SIZE_BYTES = 0x200;
/** mov r0, r0 of A32, always and where equal; two of T32's `movs r0, r0`. */
const [ALWAYS, EQUAL, THUMB] = [0xe1a0_0000, 0x01a0_0000, 0];

/** Whether the code at an address seems to be Thumb. @param words by their distance from there, in words; elsewhere it is what is given */
async function isThumb(at: number, words: Readonly<Record<number, number>>, elsewhere = THUMB): Promise<boolean> {
  const bytes = new Uint8Array(SIZE_BYTES);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < SIZE_BYTES; i += 4) view.setUint32(i, elsewhere, true);
  for (const [distance, word] of Object.entries(words)) view.setUint32(at - START + 4 * Number(distance), word, true);
  const module = await madeModule('arm', [{ svma: START, bytes }]);
  const code = new CodeBytes(new ProcessMemory());
  const guess = new ThumbGuess(code);
  let found = guess.isThumb(module, at);
  for (let reads = 0; code.isPending && reads < 10; reads++) {
    await module.memory.readWanted();
    code.isPending = false;
    found = guess.isThumb(module, at);
  }
  // It is looked at only once.
  expect([code.isPending, guess.isThumb(module, at), module.code.modes.get(at)]).toEqual([false, found, found ? 1 : 0]);
  return found;
}

/** Words from one distance up to before another. */
const words = (from: number, to: number, word: number): Record<number, number> =>
  Object.fromEntries(Array.from({ length: to - from }, (_, i) => [from + i, word]));

test('32-bit Arm code looks like A32 if a third of the words around it are executed unconditionally', async () => {
  expect(await isThumb(0x1100, words(-16, 16, ALWAYS))).toBe(false);
  expect(await isThumb(0x1100, words(-16, 16, EQUAL))).toBe(true);
  expect(await isThumb(0x1100, words(-5, 5, ALWAYS))).toBe(false);
  expect(await isThumb(0x1100, words(-5, 4, ALWAYS))).toBe(true);
});

test('the words around an address are 16 before it and 16 from it on', async () => {
  for (const [from, to, looksLikeThumb] of [
    [-16, -6, false],
    [-17, -7, true],
    [6, 16, false],
    [7, 17, true],
  ] as const) {
    expect([from, await isThumb(0x1100, words(from, to, ALWAYS))]).toEqual([from, looksLikeThumb]);
  }
});

test('at the beginning and the end of code, only the words that are there count', async () => {
  expect(await isThumb(START, words(0, 5, ALWAYS))).toBe(false);
  expect(await isThumb(START, words(0, 4, ALWAYS))).toBe(true);
  expect(await isThumb(START + SIZE_BYTES - 4, words(-5, 1, ALWAYS))).toBe(false);
  expect(await isThumb(START + SIZE_BYTES - 4, words(-4, 1, ALWAYS))).toBe(true);
});
