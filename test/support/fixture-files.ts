import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const fixtures = fileURLToPath(new URL('../../fixtures/', import.meta.url));

/** Names of the shipped recordings: `threads.data` … */
export const fixtureNames: readonly string[] = readdirSync(fixtures)
  .filter((name) => name.endsWith('.data'))
  .sort();

/** The arguments that make both perf and perfconv take the shipped symbols. */
export const fixtureSymbolArgs: readonly string[] = ['--symfs', join(fixtures, 'symfs'), '--kallsyms', join(fixtures, 'kallsyms')];

export function fixtureFile(name: string): string {
  return join(fixtures, name);
}

/** Whether symbols are shipped for a DSO, by its path or by its name alone: those of the system's libraries depend on the machine. */
export function isShippedDso(dso: string): boolean {
  return dso === '[kernel.kallsyms]' || dso.startsWith('/opt/perfconv-fixtures/') || ['frameless', 'threads', 'tree', 'syscalls'].includes(dso);
}
