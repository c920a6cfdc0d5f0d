import { addressOfBig } from '../../base/addresses.ts';

/** A module's name as the kernel spells it: `nf-tables` and `nf_tables` are the same module. */
export function canonicalModuleName(name: string): string {
  return name.replaceAll('-', '_');
}

/** Ending of a module's file, and how it is compressed, if it is. */
const MODULE_FILE = /\.ko(?:\.(gz|xz|zst))?$/;

/** The module that a name means, `[nf_tables]` or a path `…/nf-tables.ko.xz`, as the kernel spells it: `nf_tables`. */
export function moduleNameOf(name: string): string {
  const plain = name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name.slice(name.lastIndexOf('/') + 1).replace(MODULE_FILE, '');
  return canonicalModuleName(plain);
}

/** Whether a path has the ending of a module's file, compressed or not. */
export function isModulePath(path: string): boolean {
  return path.startsWith('/') && MODULE_FILE.test(path);
}

/**
 * The addresses of modules: `/proc/modules` or a copy of it, with a line per module: name, size, users, names of users,
 * state, address.
 */
export class KernelModules {
  readonly #starts: ReadonlyMap<string, number>;

  private constructor(starts: ReadonlyMap<string, number>) {
    this.#starts = starts;
  }

  /** Reads the whole list. Lines of another form are skipped, and so are those that hide their address (kptr_restrict). */
  static parse(bytes: Uint8Array): KernelModules {
    const starts = new Map<string, number>();
    for (const line of new TextDecoder('latin1').decode(bytes).split('\n')) {
      const match = /^(\S+) .* 0x([0-9a-f]{1,16})(?: \([A-Z+-]*\))?$/.exec(line);
      const start = match === null ? 0 : addressOfBig(BigInt(`0x${match[2]}`));
      if (match !== null && start !== 0) starts.set(canonicalModuleName(match[1]), start);
    }
    return new KernelModules(starts);
  }

  /** Run-time address of a module's code, by the name as the kernel spells it; undefined if it is not listed. */
  startOf(name: string): number | undefined {
    return this.#starts.get(name);
  }
}
