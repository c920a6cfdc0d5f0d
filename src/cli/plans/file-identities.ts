import { fstatSync } from 'node:fs';
import { STANDARD_STREAM } from '../../base/names/input-names.ts';
import { FilesRead } from '../../host/input/files-read.ts';
import { identityOf, statsIdentity } from '../../host/system/file-identity.ts';
import { displayName } from '../printing/messages.ts';
import type { Terminal } from '../printing/terminal.ts';
import type { NamedSymbolFile } from './symbol-paths.ts';

/** The files that a run will certainly read, found before it starts: inputs, and symbol files that options name. */
export function filesReadBy(inputs: readonly string[], symbolFiles: readonly NamedSymbolFile[], { stdin }: Pick<Terminal, 'stdin'>): FilesRead {
  const files = new FilesRead();
  for (const input of inputs) {
    if (input === STANDARD_STREAM) files.addInputFile(inputIdentity(input, stdin.fd), displayName(input));
    else files.addInput(input);
  }
  for (const { label, path } of symbolFiles) files.addFile(identityOf(path), label);
  return files;
}

/**
 * The same for all names of an input, and different for different inputs.
 * @param stdin the descriptor of standard input
 */
export function inputIdentity(input: string, stdin: number | undefined): string {
  // If it is redirected from a file, that file may be named as well.
  return input === STANDARD_STREAM ? (descriptorIdentity(stdin) ?? input) : identityOf(input);
}

/** The identity of a descriptor's file; undefined if there is none. */
function descriptorIdentity(descriptor: number | undefined): string | undefined {
  try {
    return descriptor === undefined ? undefined : statsIdentity(fstatSync(descriptor, { bigint: true }));
  } catch {
    return undefined; // It was closed before we were started.
  }
}

/** The identity of the file that standard output is redirected to; undefined if it is not redirected to a file. */
export function redirectedIdentity({ fd }: Terminal['stdout']): string | undefined {
  try {
    return fd !== undefined && fstatSync(fd).isFile() ? descriptorIdentity(fd) : undefined;
  } catch {
    return undefined;
  }
}
