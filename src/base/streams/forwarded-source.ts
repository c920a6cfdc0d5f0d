import type { ByteSource, RecordingSource } from './byte-source.ts';

/** A source that is what another one is, and reads what that reads. Classes that extend it say when, and what closing does. */
export abstract class ForwardedSource<Part extends ByteSource> implements RecordingSource {
  readonly modifiedNs: bigint | undefined;
  readonly parts: readonly Part[];
  protected readonly source: RecordingSource;

  /** @param forwardedPart makes one of these of a part */
  constructor(source: RecordingSource & { readonly modifiedNs?: bigint | undefined }, forwardedPart: (part: ByteSource) => Part) {
    this.modifiedNs = source.modifiedNs;
    this.parts = (source.parts ?? []).map(forwardedPart);
    this.source = source;
  }

  get name(): string {
    return this.source.name;
  }

  get sizeBytes(): number | undefined {
    return this.source.sizeBytes;
  }

  get storedBytes(): number | undefined {
    return this.source.storedBytes;
  }

  get mayReadAhead(): boolean | undefined {
    return this.source.mayReadAhead;
  }

  abstract readAt(position: number, target: Uint8Array): Promise<number>;

  abstract close(): Promise<void>;
}
