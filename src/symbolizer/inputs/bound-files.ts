import type { SymbolFiles } from './symbol-files.ts';

/** The functions of files, which are called on these files wherever they are put, so that some can be replaced. */
export function boundFiles(files: SymbolFiles): SymbolFiles {
  return {
    open: files.open.bind(files),
    decompress: files.decompress.bind(files),
    ownVdso: files.ownVdso.bind(files),
    runningKernel: files.runningKernel.bind(files),
    defaultBuildIdDir: files.defaultBuildIdDir.bind(files),
    ...(files.openJitFile && { openJitFile: files.openJitFile.bind(files) }),
    ...(files.openJitDump && { openJitDump: files.openJitDump.bind(files) }),
    ...(files.isForbidden && { isForbidden: files.isForbidden.bind(files) }),
    ...(files.stamp && { stamp: files.stamp.bind(files) }),
    ...(files.fetch && { fetch: files.fetch.bind(files) }),
  };
}
