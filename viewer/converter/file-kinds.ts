import { fileName } from '../../src/base/names/file-name.ts';
import { someAtOnce } from '../../src/base/some-at-once.ts';
import { BlobSource, FILES_AT_ONCE } from '../../src/base/streams/blob-source.ts';
import { isPartFile } from '../../src/perfdata/directory-recording.ts';
import { inflateAnywhere } from '../../src/unwrap/inflate.ts';
import { unpackedPieces } from '../../src/unwrap/packed-recording.ts';
import { findWrapping, type Wrapping } from '../../src/unwrap/wrappings.ts';
import type { ChosenFile, IdentifiedFile } from './messages.ts';

/**
 * - `recording`: perf.data
 * - `part`: records of one thread, of a recording whose main file is not there
 * - `binary`: a program, library, kernel module or debug file (ELF)
 * - `vmlinux`, `kallsyms`: the kernel's symbols
 * - `jit`: what a JIT left for profilers
 * - `bzip2`: something that has to be unpacked first
 * - `other`: nothing that is known here. It may still be found by its name
 * - `unreadable`: the browser may not read it
 */
export type FileKind = 'recording' | 'part' | 'binary' | 'vmlinux' | 'kallsyms' | 'jit' | 'bzip2' | 'other' | 'unreadable';

export const KIND_NAMES: Readonly<Record<FileKind, string>> = {
  recording: 'recording',
  part: 'part of a recording, of use only with the file “data” from the same folder',
  binary: 'program, library, kernel module or debug file',
  vmlinux: 'kernel',
  kallsyms: 'kernel symbols',
  jit: 'code compiled at run time',
  bzip2: 'compressed with bzip2',
  other: 'not a recording, nor a file with symbols',
  unreadable: 'cannot be read',
};

const HEAD_BYTES = 64;
/** Source: perf.data-file-format.txt, "The file starts with a perf_header"; before Linux 2.6.34 it was PERFFILE. */
const RECORDING = /^(?:PERFILE2|2ELIFREP|PERFFILE|ELIFFREP)/;
const ELF = '\x7fELF';
/** Source: jitdump-specification.txt, "JITHEADER_MAGIC" in both byte orders. */
const JITDUMP = /^(?:JiTD|DTiJ)/;

/** What files are, in their order. */
export function identifyAll(files: readonly ChosenFile[]): Promise<IdentifiedFile[]> {
  return someAtOnce(files, FILES_AT_ONCE, identify);
}

/**
 * What a file is, by its first bytes or, for lists in text, by its name and its first line. Compressed kernel symbols are unpacked; compressed recordings are
 * when they are opened, and all else when it is needed: a compressed kernel module, for example.
 */
export async function identify(file: ChosenFile): Promise<IdentifiedFile> {
  try {
    const head = await headOf(file.data);
    const wrapping = findWrapping(head);
    if (wrapping === 'bzip2') return { kind: wrapping, file };
    if (wrapping !== undefined) {
      const path = file.path.replace(/\.(?:gz|zst|xz)$/i, '');
      const kind = kindOf(await unpackedHead(wrapping, file), fileName(path));
      // Of compressed binaries, only kernel modules are unpacked when they are needed.
      if (kind === 'recording' || (kind === 'binary' && path.endsWith('.ko'))) return { kind, file };
      if (kind === 'kallsyms') return { kind, file: { path, data: await unpack(wrapping, file) } };
    }
    return { kind: kindOf(head, fileName(file.path)), file };
  } catch {
    return { kind: 'unreadable', file };
  }
}

function kindOf(head: Uint8Array, name: string): FileKind {
  const text = String.fromCharCode(...head);
  if (RECORDING.test(text)) return 'recording';
  if (text.startsWith(ELF)) return name.startsWith('vmlinux') ? 'vmlinux' : 'binary';
  if (JITDUMP.test(text) || /^perf-\d+\.map$/.test(name)) return 'jit';
  if (name.includes('kallsyms') || /^[0-9a-f]{8,16} [A-Za-z] \S/.test(text)) return 'kallsyms';
  return isPartFile(name) ? 'part' : 'other';
}

async function headOf(data: Blob): Promise<Uint8Array> {
  return new Uint8Array(await data.slice(0, HEAD_BYTES).arrayBuffer());
}

/** The first bytes that a file unpacks to; none if it is damaged there. */
async function unpackedHead(wrapping: Wrapping, file: ChosenFile): Promise<Uint8Array> {
  try {
    for await (const piece of piecesOf(wrapping, file)) return piece.slice(0, HEAD_BYTES);
  } catch {
    // Damaged.
  }
  return new Uint8Array();
}

/** What a file unpacks to, up to its end or to where it is damaged. */
async function unpack(wrapping: Wrapping, file: ChosenFile): Promise<Blob> {
  const pieces: Blob[] = [];
  try {
    for await (const piece of piecesOf(wrapping, file)) pieces.push(new Blob([piece.slice()]));
  } catch {
    // Damaged.
  }
  return new Blob(pieces);
}

function piecesOf(wrapping: Wrapping, { path, data }: ChosenFile): AsyncGenerator<Uint8Array> {
  return unpackedPieces(wrapping, new BlobSource(data, path), inflateAnywhere, undefined);
}
