import type { ChosenFile } from './messages.ts';

/**
 * - `recording`: perf.data
 * - `binary`: a program, library, kernel module or debug file (ELF)
 * - `vmlinux`, `kallsyms`: the kernel's symbols
 * - `jit`: what a JIT left for profilers
 * - `other`: nothing that is known here. It may still be found by its name
 */
export type FileKind = 'recording' | 'binary' | 'vmlinux' | 'kallsyms' | 'jit' | 'other';

export const KIND_NAMES: Readonly<Record<FileKind, string>> = {
  recording: 'recording',
  binary: 'program, library or debug file',
  vmlinux: 'kernel',
  kallsyms: 'kernel symbols',
  jit: 'code compiled at run time',
  other: 'not a recording, nor a file with symbols',
};

const HEAD_BYTES = 64;
/** Source: perf.data-file-format.txt, "The file starts with a perf_header"; before Linux 2.6.34 it was PERFFILE. */
const RECORDING = /^(?:PERFILE2|2ELIFREP|PERFFILE|ELIFFREP)/;
const ELF = '\x7fELF';
/** Source: jitdump-specification.txt, "JITHEADER_MAGIC" in both byte orders. */
const JITDUMP = /^(?:JiTD|DTiJ)/;
const GZIP = '\x1f\x8b';

/** What a file is, by its first bytes or, for lists in text, by its name and its first line. What is compressed with gzip is unpacked. */
export async function identify(file: ChosenFile): Promise<{ readonly kind: FileKind; readonly file: ChosenFile }> {
  const head = await headOf(file.data);
  if (head.startsWith(GZIP)) {
    const unpacked = await unpack(file);
    // A compressed kernel module, for example, is unpacked when it is needed.
    if (unpacked !== undefined && RECORDING.test(await headOf(unpacked.data))) return { kind: 'recording', file: unpacked };
    if (unpacked !== undefined && /^kallsyms\b/.test(nameOf(unpacked))) return { kind: 'kallsyms', file: unpacked };
  }
  return { kind: kindOf(head, nameOf(file)), file };
}

function kindOf(head: string, name: string): FileKind {
  if (RECORDING.test(head)) return 'recording';
  if (head.startsWith(ELF)) return name.startsWith('vmlinux') ? 'vmlinux' : 'binary';
  if (JITDUMP.test(head) || /^perf-\d+\.map$/.test(name)) return 'jit';
  if (name.includes('kallsyms') || /^[0-9a-f]{8,16} [A-Za-z] \S/.test(head)) return 'kallsyms';
  return 'other';
}

function nameOf({ path }: ChosenFile): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

async function headOf(data: Blob): Promise<string> {
  return String.fromCharCode(...new Uint8Array(await data.slice(0, HEAD_BYTES).arrayBuffer()));
}

async function unpack({ path, data }: ChosenFile): Promise<ChosenFile | undefined> {
  try {
    const unpacked = await new Response(data.stream().pipeThrough(new DecompressionStream('gzip'))).blob();
    return { path: path.replace(/\.gz$/i, ''), data: unpacked };
  } catch {
    return undefined; // Damaged: whoever needs it says so.
  }
}
