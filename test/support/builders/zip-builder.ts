import { deflateRawSync } from 'node:zlib';

/** A file of an archive. */
export interface ZipEntry {
  readonly name: string;
  readonly content: Uint8Array;
  /** Default: it is stored as it is. */
  readonly isCompressed?: boolean;
  /** Size of the extra field before the content, as `zipalign` makes to align it. Default: 0. */
  readonly padding?: number;
}

/** A ZIP archive, as Android's packages are, but without the CRCs. Source: PKWARE's APPNOTE.TXT, 4.3. */
export function buildZip(entries: readonly ZipEntry[], comment = ''): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, content, isCompressed = false, padding = 0 } of entries) {
    const packed = isCompressed ? deflateRawSync(content) : Buffer.from(content);
    const common = Buffer.alloc(22);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(isCompressed ? 8 : 0, 4);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(content.length, 18);
    const sizes = (extra: number): Buffer => Buffer.from(Uint16Array.of(Buffer.byteLength(name), extra).buffer);
    files.push(Buffer.from('PK\x03\x04'), common, sizes(padding), Buffer.from(name), Buffer.alloc(padding), packed);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), common, sizes(0), rest, Buffer.from(name));
    at += 30 + Buffer.byteLength(name) + padding + packed.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(at, 12);
  end.writeUInt16LE(Buffer.byteLength(comment), 16);
  return Buffer.concat([...files, list, Buffer.from('PK\x05\x06'), end, Buffer.from(comment)]);
}
