import { addressOfBig } from '../../base/bytes/addresses.ts';
import { canonicalModuleName } from '../../base/names/module-names.ts';

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
