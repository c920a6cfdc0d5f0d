import { fileName } from './file-name.ts';

/** Ending of the file of a kernel module, compressed or not. */
const MODULE_FILE = /\.ko(?:\.(?:gz|xz|zst))?$/;

/** A module's name as the kernel spells it: `nf-tables` and `nf_tables` are the same module. */
export function canonicalModuleName(name: string): string {
  return name.replaceAll('-', '_');
}

/** The module that a name means, `[nf_tables]` or a path `…/nf-tables.ko.xz`, as the kernel spells it: `nf_tables`. */
export function moduleNameOf(name: string): string {
  const plain = name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : fileName(name).replace(MODULE_FILE, '');
  return canonicalModuleName(plain);
}

/** What perf calls a module, by its file: `[nf_tables]` for `/lib/modules/6.1.0/kernel/net/nf-tables.ko.xz`; undefined for other files. */
export function bracketedModuleName(path: string): string | undefined {
  const file = fileName(path);
  const name = file.replace(MODULE_FILE, '');
  return name === file || name === '' ? undefined : `[${canonicalModuleName(name)}]`;
}

/** Whether a path has the ending of a module's file. */
export function isModulePath(path: string): boolean {
  return path.startsWith('/') && MODULE_FILE.test(path);
}
