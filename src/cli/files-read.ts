import { fstatSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { recordingDirectories } from '../host/open-directory.ts';
import { identityOf, statsIdentity, targetOf } from '../host/output-target.ts';
import { displayName } from './messages.ts';
import { STANDARD_STREAM } from './outputs.ts';
import type { NamedSymbolFile } from './symbol-paths.ts';
import type { Terminal } from './terminal.ts';

/** How messages refer to a file that is read. */
interface FileRead {
  /** Where it is clear which one is meant. */
  readonly phrase: string;
  /** With the file's name. */
  readonly fullPhrase: string;
}

/**
 * The files that a run will certainly read, found before it starts: inputs, the files in those that are directories,
 * and symbol files that options name. A file is recognised under all of its names. Nothing is opened.
 */
export class FilesRead {
  readonly #files = new Map<string, FileRead>();
  /** Directories that are inputs, by identity: which of their files belong to the input, and the input's name. */
  readonly #directories = new Map<string, { readonly isPart: (name: string) => boolean; readonly input: string }>();

  constructor(inputs: readonly string[], symbolFiles: readonly NamedSymbolFile[], { stdin }: Pick<Terminal, 'stdin'>) {
    for (const input of inputs) this.#addInput(input, stdin.fd);
    for (const { label, path } of symbolFiles) this.#add(identityOf(path), { phrase: label, fullPhrase: label });
  }

  /**
   * What writing a file at this path would do to the files that are read: `overwrite the input`; undefined where it
   * does no harm.
   */
  harmBy(path: string, isWithName: boolean): string | undefined {
    const harm = this.harmTo(identityOf(path), isWithName);
    if (harm !== undefined) return harm;
    const target = targetOf(path);
    const directory = this.#directories.get(identityOf(dirname(target)));
    return directory?.isPart(basename(target)) ? `become a part of the input ${displayName(directory.input)}` : undefined;
  }

  /** As {@link harmBy}, for an existing file, given by its identity. */
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

/**
 * The same for all names of an input, and different for different inputs.
 * @param stdin the descriptor of standard input
 */
export function inputIdentity(input: string, stdin: number | undefined): string {
  // Where it is redirected from a file, that file may be named as well.
  return input === STANDARD_STREAM ? (descriptorIdentity(stdin) ?? input) : identityOf(input);
}

/** The identity of the file of a descriptor; undefined where there is none. */
function descriptorIdentity(descriptor: number | undefined): string | undefined {
  try {
    return descriptor === undefined ? undefined : statsIdentity(fstatSync(descriptor, { bigint: true }));
  } catch {
    return undefined; // Closed before we were started.
  }
}

/** The identity of the file that standard output is redirected to; undefined where it is not redirected to a file. */
export function redirectedIdentity({ fd }: Terminal['stdout']): string | undefined {
  try {
    return fd !== undefined && fstatSync(fd).isFile() ? descriptorIdentity(fd) : undefined;
  } catch {
    return undefined;
  }
}
