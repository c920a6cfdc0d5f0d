import type { Compression, Decompressor } from '../../base/streams/decompressor.ts';
import { decompress } from '../compression/decompress.ts';

const MAX_KEPT_SIZE_BYTES = 64 << 20;

interface KeptSection {
  readonly compression: Compression;
  readonly packed: Uint8Array;
  readonly unpacked: Uint8Array;
}

/**
 * Decompresses sections of debug information, and keeps the last ones: recordings that are read one after the other are mostly of the same binaries, and
 * unpacking their line information takes longer than reading a small recording.
 */
export class SectionCache implements Decompressor {
  readonly #unpack: Decompressor['decompress'];
  readonly #maxSizeBytes: number;
  /** The one used last comes last. */
  #kept: readonly KeptSection[] = [];

  /**
   * @param unpack decompresses a section
   * @param maxSizeBytes limit of all that is kept, packed and unpacked
   */
  constructor(unpack: Decompressor['decompress'] = decompress, maxSizeBytes = MAX_KEPT_SIZE_BYTES) {
    this.#unpack = unpack;
    this.#maxSizeBytes = maxSizeBytes;
  }

  /** {@link Decompressor} */
  async decompress(compression: Compression, packed: Uint8Array, maxSizeBytes: number, isAhead?: boolean): Promise<Uint8Array> {
    const known = this.#find(compression, packed, maxSizeBytes);
    const section = known ?? { compression, packed, unpacked: await this.#unpack(compression, packed, maxSizeBytes, isAhead) };
    if (sizeOf(section) > this.#maxSizeBytes) return section.unpacked;
    // Another request may have kept it meanwhile.
    this.#keep(this.#find(compression, packed, maxSizeBytes) ?? section);
    // A copy, since the caller may change the bytes to relocate them.
    return new Uint8Array(section.unpacked);
  }

  #find(compression: Compression, packed: Uint8Array, maxSizeBytes: number): KeptSection | undefined {
    return this.#kept.find((section) => isOf(section, compression, packed, maxSizeBytes));
  }

  #keep(section: KeptSection): void {
    const kept = [...this.#kept.filter((other) => other !== section), section];
    let sizeBytes = kept.reduce((sum, each) => sum + sizeOf(each), 0);
    while (sizeBytes > this.#maxSizeBytes) {
      sizeBytes -= sizeOf(kept.shift() as KeptSection);
    }
    this.#kept = kept;
  }
}

function sizeOf({ packed, unpacked }: KeptSection): number {
  return packed.length + unpacked.length;
}

function isOf({ compression, packed, unpacked }: KeptSection, wanted: Compression, bytes: Uint8Array, maxSizeBytes: number): boolean {
  return compression === wanted && unpacked.length <= maxSizeBytes && Buffer.compare(packed, bytes) === 0;
}
