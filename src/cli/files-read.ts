import { fstatSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { recordingDirectories } from '../host/open-directory.ts';
import { identityOf, statsIdentity, targetOf } from '../host/output-target.ts';
import { displayName } from './messages.ts';
import { STANDARD_STREAM } from './outputs.ts';
import type { NamedSymbolFile } from './symbol-paths.ts';
import type { Terminal } from './terminal.ts';

/** A file that is read, as messages call it. */
interface FileRead {
  /** Where it goes without saying which one it is. */
  readonly phrase: string;
  /** With its name. */
  readonly fullPhrase: string;
}

/**
 * The files that a run is known to read before it starts, by whatever names they go: inputs, each file of those that are directories,
 * and symbol files that are given by name. Nothing is opened.
 */
export class FilesRead {
  readonly #files = new Map<string, FileRead>();
  /** By identity: a directory, the names of its files that belong to an input, and the input. */
  readonly #directories = new Map<string, { readonly isPart: (name: string) => boolean; readonly input: string }>();

  constructor(inputs: readonly string[], symbolFiles: readonly NamedSymbolFile[], { stdin }: Pick<Terminal, 'stdin'>) {
    for (const input of inputs) this.#addInput(input, stdin.fd);
    for (const { label, path } of symbolFiles) this.#add(identityOf(path), { phrase: label, fullPhrase: label });
  }

  /** What writing a file at this path would do to those that are read: `overwrite the input`; undefined when nothing. */
  harmBy(path: string, isWithName: boolean): string | undefined {
    const harm = this.harmTo(identityOf(path), isWithName);
    if (harm !== undefined) return harm;
    const target = targetOf(path);
    const directory = this.#directories.get(identityOf(dirname(target)));
    return directory?.isPart(basename(target)) ? `become a part of the input ${displayName(directory.input)}` : undefined;
  }

  /** As {@link harmBy}, by the identity of a file that is there. */
  harmTo(identity: string, isWithName: boolean): string | undefined {
    const file = this.#files.get(identity);
    return file && `overwrite ${isWithName ? file.fullPhrase : file.phrase}`;
  }

  #addInput(input: string, stdin: number | undefined): void {
    const name = displayName(input);
    this.#add(inputIdentity(input, stdin), { phrase: 'the input', fullPhrase: `the input ${name}` });
    if (input === STANDARD_STREAM) return;
    for (const { path, isPart, files } of recordingDirectories(input)) {
      this.#directories.set(identityOf(path), { isPart, input });
      for (const file of files) {
        const phrase = `${displayName(relative(input, file))} of the input ${name}`;
        this.#add(identityOf(file), { phrase, fullPhrase: phrase });
      }
    }
  }

  #add(identity: string, file: FileRead): void {
    if (!this.#files.has(identity)) this.#files.set(identity, file);
  }
}

/** What tells an input from others, whatever it is called. @param stdin the descriptor of standard input */
export function inputIdentity(input: string, stdin: number | undefined): string {
  // Redirected from a file, it has a name as well.
  return input === STANDARD_STREAM ? (descriptorIdentity(stdin) ?? input) : identityOf(input);
}

/** The identity of what a descriptor stands for; undefined where there is none. */
function descriptorIdentity(descriptor: number | undefined): string | undefined {
  try {
    return descriptor === undefined ? undefined : statsIdentity(fstatSync(descriptor, { bigint: true }));
  } catch {
    return undefined; // Closed before we were started.
  }
}

/** The identity of the file that standard output was redirected to; undefined where it is none. */
export function redirectedIdentity({ fd }: Terminal['stdout']): string | undefined {
  try {
    return fd !== undefined && fstatSync(fd).isFile() ? descriptorIdentity(fd) : undefined;
  } catch {
    return undefined;
  }
}
