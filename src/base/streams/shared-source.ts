import { PerfconvError } from '../problems/errors.ts';
import type { RecordingSource } from './byte-source.ts';
import { ForwardedSource } from './forwarded-source.ts';

/**
 * A source that stays open for others when it is closed. Once the input is closed, reads fail, whatever the source would do: the number of a closed descriptor
 * may already be another file's.
 */
export class SharedSource extends ForwardedSource<SharedSource> {
  readonly #isClosed: () => boolean;

  /** @param isClosed whether the input is closed */
  constructor(source: RecordingSource & { readonly modifiedNs?: bigint | undefined }, isClosed: () => boolean) {
    super(source, (part) => new SharedSource(part, isClosed));
    this.#isClosed = isClosed;
  }

  async readAt(position: number, target: Uint8Array): Promise<number> {
    if (this.#isClosed()) throw new PerfconvError('usage', 'the recording was closed while it was being read', { file: this.name });
    return this.source.readAt(position, target);
  }

  async close(): Promise<void> {}
}
