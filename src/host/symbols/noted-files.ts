import { boundFiles } from '../../symbolizer/inputs/bound-files.ts';
import type { SymbolFiles } from '../../symbolizer/inputs/symbol-files.ts';
import type { OpenedFiles } from '../system/opened-files.ts';

/**
 * A program's own files, which note what they open as far as it is on this machine, where they do not say what they have opened: what is at the same path.
 * @param opened gets these files
 */
export function notedFiles(files: SymbolFiles, opened: OpenedFiles): SymbolFiles {
  const { openJitFile } = files;
  return {
    ...boundFiles(files),
    open: async (path) => {
      const source = await files.open(path);
      if (source !== undefined) opened.addIfThere(path);
      return source;
    },
    ...(openJitFile && {
      openJitFile: async (path, writer) => {
        const file = await openJitFile.call(files, path, writer);
        if (file?.source !== undefined) opened.addIfThere(path);
        return file;
      },
    }),
  };
}
