import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root folder of the project. This module may be at different depths below it: as source, or compiled. */
export function projectRoot(): string {
  let directory = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(directory, 'fixtures/PROVENANCE.md'))) {
    const parent = dirname(directory);
    if (parent === directory) throw new Error('the fuzzer lies outside the project, without its fixtures');
    directory = parent;
  }
  return directory;
}
