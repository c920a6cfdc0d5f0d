import { closeSync, constants, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemPath } from '../system/system-path.ts';

const PIECE_BYTES = 1 << 20;

/** Replaces the bytes of a file by another's. The file itself stays, with its owner, its mode and its links. */
export function overwriteNow(from: string, target: string): void {
  for (const _ of copying(from, target, constants.O_WRONLY));
}

/**
 * Like {@link overwriteNow}, but piece by piece, so that signals are handled in between.
 * @param isGivenUp called after each piece; if it is true, copying stops, and what was written by then stays
 */
export function overwrite(from: string, target: string, isGivenUp: () => boolean): Promise<void> {
  return stepping(copying(from, target, constants.O_WRONLY), isGivenUp);
}

/** Copies a file to a new one that nobody else can read. Works like {@link overwrite}. */
export function copyPrivately(from: string, target: string, isGivenUp: () => boolean): Promise<void> {
  return stepping(copying(from, target, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL), isGivenUp);
}

async function stepping(steps: Iterable<void>, isGivenUp: () => boolean): Promise<void> {
  for (const _ of steps) {
    await nextTurn();
    if (isGivenUp()) return;
  }
}

function* copying(from: string, target: string, flags: number): Generator<void> {
  const source = openSync(systemPath(from), 'r');
  try {
    const destination = openSync(systemPath(target), flags | (constants.O_NOFOLLOW ?? 0), 0o600);
    try {
      const buffer = new Uint8Array(PIECE_BYTES);
      let position = 0;
      for (let count = -1; count !== 0; position += count) {
        count = readSync(source, buffer, 0, buffer.length, position);
        // A write may store only a part; the next one then reports why.
        for (let done = 0; done < count; ) done += writeSync(destination, buffer, done, count - done, position + done);
        yield;
      }
      ftruncateSync(destination, position);
    } finally {
      closeSync(destination);
    }
  } finally {
    closeSync(source);
  }
}
