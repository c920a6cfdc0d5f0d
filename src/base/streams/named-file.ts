import type { BlobLike } from './blob-source.ts';
import { BlobSource } from './blob-source.ts';
import type { ByteSource } from './byte-source.ts';
import { BufferSource } from './byte-source.ts';

/** A file that symbols come from, or a part of a recording: a File of a web page, or bytes under a name. */
export type NamedFile = BlobLike | { readonly name: string; readonly data: Uint8Array | BlobLike };

/** Its path, as far as it is known. Files chosen with their folder have its names in their paths. */
export function pathOfFile(file: NamedFile): string {
  const { webkitRelativePath } = file as { readonly webkitRelativePath?: string };
  return webkitRelativePath || file.name || '';
}

/** The parts of a path; the last one is the file's name. */
export function pathParts(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

export function dataOfFile(file: NamedFile): Uint8Array | BlobLike {
  return 'data' in file ? file.data : file;
}

/** The bytes of a file, under a name for messages. */
export function sourceOf(data: Uint8Array | BlobLike, name: string): ByteSource {
  return data instanceof Uint8Array ? new BufferSource(data, name) : new BlobSource(data, name);
}
