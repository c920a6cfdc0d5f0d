import { basename, dirname, relative } from 'node:path';
import { identityOf, targetOf } from '../system/file-identity.ts';
import { recordingDirectories } from './open-directory.ts';

/** How messages refer to a file that is read. */
interface FileRead {
  /** For use where it is clear which file is meant. */
  readonly phrase: string;
  /** With the file's name. */
  readonly fullPhrase: string;
}

interface Naming {
  /** Whether the text names the input, which is not necessary if there is only one. Default: yes. */
  readonly isNamed?: boolean;
}

/**
 * Files that are read, which no output may replace: inputs, the files in those that are directories, and symbol files. A file is recognized under all of its
 * names. Nothing is opened.
 */
export class FilesRead {
  readonly #files = new Map<string, FileRead>();
  /** Directories that are inputs, by identity: which of their files belong to the input, and the input's name. */
  readonly #directories = new Map<string, { readonly isPart: (name: string) => boolean; readonly input: string }>();

  /** Adds an input by its path: a file, or a directory with the recording's files in it. */
  addInput(path: string): void {
    this.addInputFile(identityOf(path), path);
    for (const { path: directory, isPart, files } of recordingDirectories(path)) {
      this.#directories.set(identityOf(directory), { isPart, input: path });
      for (const file of files) this.addFile(identityOf(file), `${relative(path, file)} of the input ${path}`);
    }
  }

  /** Adds an input that is a file. @param name what messages call it */
  addInputFile(identity: string, name: string): void {
    this.#add(identity, { phrase: 'the input', fullPhrase: `the input ${name}` });
  }

  /** Adds any other file. @param phrase how messages refer to it */
  addFile(identity: string, phrase: string): void {
    this.#add(identity, { phrase, fullPhrase: phrase });
  }

  /**
   * What writing a file at this path would do to the files that are read, such as `overwrite the input perf.data`; undefined if it does no harm.
   */
  conflictOfWriting(path: string, naming: Naming = {}): string | undefined {
    const harm = this.harmOfOverwriting(identityOf(path), naming);
    if (harm !== undefined) return harm;
    const target = targetOf(path);
    const directory = this.#directories.get(identityOf(dirname(target)));
    return directory?.isPart(basename(target)) ? `become part of the input ${directory.input}` : undefined;
  }

  /** Like {@link conflictOfWriting}, for an existing file, given by its identity. */
  harmOfOverwriting(identity: string, { isNamed = true }: Naming = {}): string | undefined {
    const file = this.#files.get(identity);
    return file && `overwrite ${isNamed ? file.fullPhrase : file.phrase}`;
  }

  #add(identity: string, file: FileRead): void {
    if (!this.#files.has(identity)) this.#files.set(identity, file);
  }
}
