import { anatomyOf } from '../anatomy/anatomy.ts';
import { withoutRecords } from '../mutations/record-mutations.ts';
import { hasRecords, type InputFiles } from '../seeds/seed.ts';

/** Whether an input still fails as the finding does. */
export type StillFails = (files: InputFiles) => Promise<boolean>;

/**
 * Makes an input smaller and simpler while it still fails: removes records, then pieces, and sets pieces to zero.
 * @param maxTries maximum number of attempts
 * @returns the smallest input found; the input itself if nothing can be removed
 */
export async function minimize(files: InputFiles, stillFails: StillFails, maxTries: number): Promise<InputFiles> {
  let best = files;
  let tries = 0;
  const isOver = (): boolean => tries >= maxTries;
  // The contents of a candidate are made only when it is tried, since large files have very many candidates.
  const accept = async (name: string, make: () => Uint8Array | undefined): Promise<boolean> => {
    if (isOver()) return false;
    tries++;
    const candidate = new Map(best);
    const bytes = make();
    if (bytes === undefined) candidate.delete(name);
    else candidate.set(name, bytes);
    if (!(await stillFails(candidate))) return false;
    best = candidate;
    return true;
  };
  for (const name of files.keys()) {
    if (best.size > 1 && (await accept(name, () => undefined))) continue;
    const current = (): Uint8Array => best.get(name) ?? new Uint8Array();
    const recordCount = hasRecords(best, name) ? anatomyOf(current()).records.length : 0;
    await halving(recordCount, async (size) => {
      for (let end = anatomyOf(current()).records.length; end > 0 && !isOver(); end = Math.max(0, end - size)) {
        await accept(name, () => withoutRecords(current(), Math.max(0, end - size), end));
      }
    });
    await halving(current().length, async (size) => {
      for (let end = current().length; end > 0 && !isOver(); end = Math.max(0, end - size)) {
        await accept(name, () => without(current(), Math.max(0, end - size), end));
      }
      for (let end = current().length; end > 0 && !isOver(); end = Math.max(0, end - size)) {
        const start = Math.max(0, end - size);
        const isZero = current()
          .subarray(start, end)
          .every((byte) => byte === 0);
        if (!isZero) await accept(name, () => current().slice().fill(0, start, end));
      }
    });
  }
  return best;
}

/** Tries sizes from the largest power of two in `most` down to 1. */
async function halving(most: number, attempt: (size: number) => Promise<void>): Promise<void> {
  for (let size = 2 ** Math.floor(Math.log2(Math.max(1, most))); size >= 1; size /= 2) await attempt(size);
}

function without(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const rest = new Uint8Array(bytes.length - (end - start));
  rest.set(bytes.subarray(0, start));
  rest.set(bytes.subarray(end), start);
  return rest;
}
