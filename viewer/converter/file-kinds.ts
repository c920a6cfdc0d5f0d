import { fileName } from '../../src/base/file-name.ts';
import type { ChosenFile } from './messages.ts';

/**
 * - `recording`: perf.data
 * - `binary`: a program, library, kernel module or debug file (ELF)
 * - `vmlinux`, `kallsyms`: the kernel's symbols
 * - `jit`: what a JIT left for profilers
 * - `other`: nothing that is known here. It may still be found by its name
 * - `unreadable`: the browser may not read it
 */
export type FileKind = 'recording' | 'binary' | 'vmlinux' | 'kallsyms' | 'jit' | 'other' | 'unreadable';

export const KIND_NAMES: Readonly<Record<FileKind, string>> = {
  recording: 'recording',
  binary: 'program, library or debug file',
  vmlinux: 'kernel',
  kallsyms: 'kernel symbols',
  jit: 'code compiled at run time',
  other: 'not a recording, nor a file with symbols',
  unreadable: 'cannot be read',
};

/** Stands for what cannot even be opened. */
export const UNREADABLE = new Blob([]);

const HEAD_BYTES = 64;
/** Source: perf.data-file-format.txt, "The file starts with a perf_header"; before Linux 2.6.34 it was PERFFILE. */
const RECORDING = /^(?:PERFILE2|2ELIFREP|PERFFILE|ELIFFREP)/;
const ELF = '\x7fELF';
/** Source: jitdump-specification.txt, "JITHEADER_MAGIC" in both byte orders. */
const JITDUMP = /^(?:JiTD|DTiJ)/;
const GZIP = '\x1f\x8b';

/**
 * What a file is, by its first bytes or, for lists in text, by its name and its first line. What is compressed with gzip is unpacked, as far as it is intact.
 */
export async function identify(file: ChosenFile): Promise<{ readonly kind: FileKind; readonly file: ChosenFile }> {
  if (file.data === UNREADABLE) return { kind: 'unreadable', file };
  try {
    const head = await headOf(file.data);
    if (head.startsWith(GZIP)) {
      const path = file.path.replace(/\.gz$/i, '');
      // Others are unpacked when they are needed: a compressed kernel module, for example.
      const kind = kindOf(await unpackedHead(file.data), fileName(path));
      if (kind === 'recording' || kind === 'kallsyms') return { kind, file: { path, data: await unpack(file.data) } };
    }
    return { kind: kindOf(head, fileName(file.path)), file };
  } catch {
    return { kind: 'unreadable', file };
  }
}

function kindOf(head: string, name: string): FileKind {
  if (RECORDING.test(head)) return 'recording';
  if (head.startsWith(ELF)) return name.startsWith('vmlinux') ? 'vmlinux' : 'binary';
  if (JITDUMP.test(head) || /^perf-\d+\.map$/.test(name)) return 'jit';
  if (name.includes('kallsyms') || /^[0-9a-f]{8,16} [A-Za-z] \S/.test(head)) return 'kallsyms';
  return 'other';
}

async function headOf(data: Blob): Promise<string> {
  return String.fromCharCode(...new Uint8Array(await data.slice(0, HEAD_BYTES).arrayBuffer()));
}

async function unpackedHead(data: Blob): Promise<string> {
  for await (const piece of unpackedPieces(data)) return headOf(piece);
  return '';
}

async function unpack(data: Blob): Promise<Blob> {
  const pieces: Blob[] = [];
  for await (const piece of unpackedPieces(data)) pieces.push(piece);
  return new Blob(pieces);
}

/** What a file unpacks to, up to its end or to where it is damaged: what is missing of a recording is found when it is read. */
async function* unpackedPieces(data: Blob): AsyncGenerator<Blob> {
  const reader = data.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield new Blob([piece.value]);
  } catch {
    // Damaged.
  } finally {
    await reader.cancel().catch(() => {});
  }
}
