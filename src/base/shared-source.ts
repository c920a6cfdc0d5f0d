import type { RecordingSource } from './byte-source.ts';
import { PerfconvError } from './errors.ts';

/**
 * A source that stays open for others when it is closed. Once the input is closed, reads fail, whatever the source would do: the number of a closed descriptor
 * may already be another file's.
 */
export class SharedSource implements RecordingSource {
  readonly modifiedNs: bigint | undefined;
  readonly parts: readonly SharedSource[];
  readonly #source: RecordingSource;
  readonly #isClosed: () => boolean;

  /** @param isClosed whether the input is closed */
  constructor(source: RecordingSource & { readonly modifiedNs?: bigint | undefined }, isClosed: () => boolean) {
    this.modifiedNs = source.modifiedNs;
    this.parts = (source.parts ?? []).map((part) => new SharedSource(part, isClosed));
    this.#source = source;
    this.#isClosed = isClosed;
  }

  get name(): string {
    return this.#source.name;
  }

  get sizeBytes(): number | undefined {
    return this.#source.sizeBytes;
  }

  get storedBytes(): number | undefined {
    return this.#source.storedBytes;
  }

  get mayReadAhead(): boolean | undefined {
    return this.#source.mayReadAhead;
  }

  async readAt(position: number, target: Uint8Array): Promise<number> {
    if (this.#isClosed()) throw new PerfconvError('usage', 'the recording was closed while it was being read', { file: this.name });
    return this.#source.readAt(position, target);
  }

  async close(): Promise<void> {}
}
