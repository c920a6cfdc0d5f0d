/** A File of a page whose file has changed or is gone since it was chosen: browsers refuse to read it. */
export class VanishedFile extends File {
  /** @param sizeBytes as of when it was chosen */
  constructor(name: string, sizeBytes: number, lastModified = 0) {
    super([new Uint8Array(sizeBytes)], name, { lastModified });
  }

  override slice(): Blob {
    const slice = new Blob([]);
    slice.arrayBuffer = async () => {
      throw new DOMException('the file could not be read', 'NotReadableError');
    };
    return slice;
  }
}
