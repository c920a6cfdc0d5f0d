import type { Diagnostics } from '../base/problems/diagnostics.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import type { ByteSource } from '../base/streams/byte-source.ts';
import { type Inflate, unwrap } from './unwrap.ts';
import { notUnpacked, type Wrapping } from './wrappings.ts';

/**
 * What a recording that is compressed as a whole unpacks to. It ends where the data are damaged.
 * @param diagnostics gets what is wrong with the compressed data; without it, damage is thrown
 * @param count called with the number of bytes whenever some have been read
 * @throws PerfconvError `unsupported` for a compression that is not supported; when it is read, `damaged` if nothing can be decompressed
 */
export function unpackedPieces(
  wrapping: Wrapping,
  packed: ByteSource,
  inflate: Inflate,
  diagnostics: Diagnostics | undefined,
  count: (bytes: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const { name } = packed;
  if (wrapping === 'bzip2') {
    throw new PerfconvError('unsupported', notUnpacked(wrapping, name), { file: name });
  }
  const onTrailing = (message: string): void => diagnostics?.add('unpack-trailing', 'warning', message);
  return reportingDamage(unwrap(wrapping, piecesOf(packed, count), inflate, onTrailing), name, diagnostics);
}

/** Ends where the damage begins, and reports it; data that are damaged from the beginning are refused. */
async function* reportingDamage(pieces: AsyncIterable<Uint8Array>, name: string, diagnostics: Diagnostics | undefined): AsyncGenerator<Uint8Array> {
  let position = 0;
  try {
    for await (const piece of pieces) {
      yield piece;
      position += piece.length;
    }
  } catch (error) {
    if (!(error instanceof PerfconvError) || error.code !== 'damaged') throw error;
    if (diagnostics === undefined || position === 0) throw new PerfconvError('damaged', error.message, { file: name }, { cause: error });
    diagnostics.add('unpack-damaged', 'loss', `${error.message}; the recording ends after ${position} unpacked bytes`, position);
  }
}

const PIECE_BYTES = 256 << 10;

/**
 * The bytes of a source from its beginning to its end. A piece is overwritten when the next one is asked for.
 * @param count called with the number of bytes of each
 */
async function* piecesOf(source: ByteSource, count: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(PIECE_BYTES);
  for (let position = 0; ; ) {
    const filled = await source.readAt(position, buffer);
    if (filled === 0) return;
    position += filled;
    count(filled);
    yield buffer.subarray(0, filled);
  }
}
