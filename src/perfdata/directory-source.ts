import type { ByteSource, RecordingSource } from '../base/streams/byte-source.ts';

/** A directory recording: the file `data`, with the other files as its parts. */
export class DirectorySource implements RecordingSource {
  /** The directory's path. */
  readonly name: string;
  readonly parts: readonly ByteSource[];
  readonly #data: ByteSource;

  constructor(name: string, data: ByteSource, parts: readonly ByteSource[]) {
    this.name = name;
    this.parts = parts;
    this.#data = data;
  }

  /** Size of `data` alone, since the header's positions are those in it. */
  get sizeBytes(): number | undefined {
    return this.#data.sizeBytes;
  }

  get mayReadAhead(): boolean | undefined {
    return this.#data.mayReadAhead;
  }

  readAt(position: number, target: Uint8Array): Promise<number> {
    return this.#data.readAt(position, target);
  }

  async close(): Promise<void> {
    for (const source of [this.#data, ...this.parts]) await source.close();
  }
}
