/**
 * Random access to the bytes of a file, wherever they come from. The library reads through this and never opens a file itself, so that it runs in a browser as
 * well as in Node.
 */
export interface ByteSource {
  /** What to call it in messages: a path, `-`, a URL. */
  readonly name: string;
  /** Size in bytes; undefined for a stream whose end is not known yet. */
  readonly sizeBytes: number | undefined;
  /** Whether bytes may be read ahead, in several reads at a time: true for files; for a pipe, a pending read would keep a program from ending. */
  readonly mayReadAhead?: boolean | undefined;
  /**
   * Reads bytes from `position` on into `target`. A stream only goes forward: bytes between the last one read and `position` are discarded.
   * @returns how many bytes were read: 0 only at the end of the source; a stream gives what it has rather than wait for more
   * @throws PerfconvError `io`
   */
  readAt(position: number, target: Uint8Array): Promise<number>;
  /** Closes what the source holds open. May be called more than once. */
  close(): Promise<void>;
}

/** A recording: one file or stream, or the files of a directory (`perf record --threads`). */
export interface RecordingSource extends ByteSource {
  /**
   * The further files of a directory, `data.0` and up in their order: they hold only records, from byte 0 on. The source itself is the directory's `data`;
   * closing it closes them, too.
   */
  readonly parts?: readonly ByteSource[];
  /**
   * How many bytes it takes where it is stored, if that is not its size: fewer if it is compressed or has holes; for a compressed stream, those read so far. A
   * recording may need memory in proportion to them.
   */
  readonly storedBytes?: number | undefined;
}

/** Size of all files of a recording, in bytes; undefined for a stream whose end is not known yet. */
export function recordingBytes({ sizeBytes, parts = [] }: RecordingSource): number | undefined {
  return [{ sizeBytes }, ...parts].reduce<number | undefined>(
    (sum, part) => (sum === undefined || part.sizeBytes === undefined ? undefined : sum + part.sizeBytes),
    0,
  );
}

/**
 * Is told now and then how many bytes of a recording have been read, in all of its files.
 * @param totalBytes how many there are, unpacked; undefined for a stream whose end is not known yet
 */
export type OnProgress = (bytes: number, totalBytes: number | undefined) => void;

/** A source over bytes in memory. */
export class BufferSource implements ByteSource {
  readonly name: string;
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array, name = 'buffer') {
    this.name = name;
    this.bytes = bytes;
  }

  get sizeBytes(): number {
    return this.bytes.length;
  }

  async readAt(position: number, target: Uint8Array): Promise<number> {
    const part = this.bytes.subarray(position, position + target.length);
    target.set(part);
    return part.length;
  }

  async close(): Promise<void> {}
}

/**
 * Reads `sizeBytes` bytes at `position`; the result is shorter only if the source ends.
 * @param memory where to put them: as many bytes; by default, new memory
 */
export async function readRange(source: ByteSource, position: number, sizeBytes: number, memory?: Uint8Array): Promise<Uint8Array> {
  // A size read from a file is not trusted: never allocate more than the source can hold.
  const available = source.sizeBytes === undefined ? sizeBytes : Math.max(0, source.sizeBytes - position);
  const size = Math.min(sizeBytes, available);
  const target = memory === undefined ? new Uint8Array(size) : memory.subarray(0, size);
  let done = 0;
  while (done < target.length) {
    const count = await source.readAt(position + done, target.subarray(done));
    if (count === 0) return target.subarray(0, done);
    done += count;
  }
  return target;
}
