import type { ByteView } from '../../base/bytes/byte-view.ts';
import { RECORD_HEADER_BYTES } from '../../base/bytes/record-layout.ts';
import { MAGIC_BYTES, mayBeMagic, readMagic } from '../header/recording-magic.ts';
import type { RecordBuffer } from './record-buffer.ts';

/** What may follow records whose end no header tells. */
export interface Followers {
  /** Bytes of the feature table that may follow the records; 0, as by default, if none can. */
  readonly featureTableBytes?: number;
  /** Whether another recording may follow the records: the end of a recording in pipe form is marked by nothing else. False by default. */
  readonly mayBeFollowed?: boolean;
}

/** Recognizes what may follow records whose end no header tells. */
export class RecordsEnd {
  readonly #featureTableBytes: number;
  readonly #mayBeFollowed: boolean;

  constructor({ featureTableBytes = 0, mayBeFollowed = false }: Followers) {
    this.#featureTableBytes = featureTableBytes;
    this.#mayBeFollowed = mayBeFollowed;
  }

  /** Whether the header's feature table is where a record should be. Its first section is right after it. */
  isFeatureTable({ view, base }: RecordBuffer, at: number): boolean {
    return this.#featureTableBytes > 0 && view.u64(at) === base + at + this.#featureTableBytes;
  }

  /** Whether the space reserved for the feature table begins at `at`: that many zeros, then the first feature. */
  isReservedFeatureTable({ view, filled }: RecordBuffer, at: number): boolean {
    const end = at + this.#featureTableBytes;
    if (this.#featureTableBytes === 0 || end + RECORD_HEADER_BYTES > filled) return false;
    const { bytes } = view;
    return bytes.subarray(at, end).every((byte) => byte === 0) && bytes.subarray(end, end + RECORD_HEADER_BYTES).some((byte) => byte !== 0);
  }

  /** Whether the magic number is at `at`, where another recording may begin. */
  isMagic({ bytes }: ByteView, at: number): boolean {
    return this.#mayBeFollowed && mayBeMagic(bytes[at]) && readMagic(bytes.subarray(at, at + MAGIC_BYTES)) !== undefined;
  }
}
