import { Kallsyms } from './kallsyms.ts';

/**
 * The kernel's symbol list that was read last. Recordings that are read one after the other are mostly of one kernel, and reading its list takes
 * longer than reading a small recording.
 */
export class LastList {
  #path: string | undefined;
  #list: Kallsyms | undefined;

  /**
   * The list at a path, as it was when it was read.
   * @param read returns its bytes; undefined if there is none. What it throws is thrown
   */
  async at(path: string, read: (path: string) => Promise<Uint8Array | undefined>): Promise<Kallsyms | undefined> {
    if (this.#path === path) return this.#list;
    const bytes = await read(path);
    if (bytes === undefined) return undefined;
    this.#list = Kallsyms.parse(bytes);
    this.#path = path;
    return this.#list;
  }
}
