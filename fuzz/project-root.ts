import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's folder, from which this module may lie at different depths: as source, or compiled. */
export function projectRoot(): string {
  let directory = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(directory, 'fixtures/PROVENANCE.md'))) {
    const parent = dirname(directory);
    if (parent === directory) throw new Error('the fuzzer lies outside the project, without its fixtures');
    directory = parent;
  }
  return directory;
}
