import { PerfconvError } from '../base/problems/errors.ts';
import { openZstd } from '../zstd/open.ts';
import type { Unpacker } from './unpacker.ts';

/** The error for bytes after the end of a frame that do not begin another: the first frame's magic number was checked before. */
const NO_FRAME = 'a frame does not start with its magic';
/** Four bytes that complete no magic number, whatever comes before them. */
const NO_MAGIC = new Uint8Array(4);

/** Unpacks zstd, frame after frame. */
export async function openZstdUnpacker(): Promise<Unpacker> {
  const stream = await openZstd();
  let hasTrailing = false;
  const push = async (bytes: Uint8Array, take: (piece: Uint8Array) => void): Promise<void> => {
    try {
      stream.push(bytes, take);
    } catch (error) {
      if (!(error instanceof PerfconvError) || !error.message.endsWith(NO_FRAME)) throw error;
      hasTrailing = true;
    }
  };
  return {
    get hasTrailing() {
      return hasTrailing;
    },
    push,
    end: async () => {
      if (stream.isAtFrameEnd) return;
      // One to three bytes after a frame still wait for the rest of a magic number. Within a frame, these four complete no more than a block.
      await push(NO_MAGIC, () => {}).catch(() => {});
      if (!hasTrailing) throw new PerfconvError('damaged', 'the zstd data cannot be read: it is cut off');
    },
    close: () => {},
  };
}
