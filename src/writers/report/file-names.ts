import { perfMapPid } from '../../base/names/jit-file-names.ts';
import { bracketedModuleName } from '../../base/names/module-names.ts';
import { baseName, isJitFile } from '../../profile/names.ts';
import type { Mapping } from '../../profile/profile.ts';

/**
 * - `recorded`: in full
 * - `perf`: like perf report
 * - `comparable`: the same for the same binary in another recording, in which it may be elsewhere
 */
export type FileNames = 'recorded' | 'perf' | 'comparable';

/** What a file is called; empty if it has no name. */
export function fileName(mapping: Pick<Mapping, 'name' | 'kind'>, names: FileNames): string {
  switch (names) {
    case 'recorded':
      return mapping.name;
    case 'perf':
      return perfShortName(mapping);
    case 'comparable':
      return comparableName(mapping);
  }
}

/** The name that perf report shows for a file: without directories, the kernel and its modules in brackets, perf maps as JIT code. Observed: perf 6.1. */
function perfShortName({ name, kind }: Pick<Mapping, 'name' | 'kind'>): string {
  if (kind === 'module') return bracketedModuleName(name) ?? name;
  const base = baseName(name);
  if (kind === 'kernel' && base.startsWith('vmlinux')) return '[kernel.vmlinux]';
  const tid = perfMapPid(name);
  return tid === undefined ? base : `[JIT] tid ${tid}`;
}

/** Where the kernel's symbols came from, and in which process code was made at run time, may differ between recordings. */
function comparableName(mapping: Pick<Mapping, 'name' | 'kind'>): string {
  if (mapping.kind === 'kernel') return '[kernel.kallsyms]';
  return perfMapPid(mapping.name) !== undefined || isJitFile(mapping.name) ? '[JIT]' : perfShortName(mapping);
}
