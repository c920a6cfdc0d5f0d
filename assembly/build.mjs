// Compiles the AssemblyScript of this folder to WebAssembly, and puts it as text into src/, from where it is loaded without a file.
// Part of `npm run generate`: what is generated is kept with the sources, and a test tells when it is out of date.

import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Modules that are compiled by themselves, and where each is put. */
const MODULES = {
  'assembly/abbreviation-table.ts': 'src/dwarf/wasm/abbreviation-table-code.ts',
  'assembly/line-program.ts': 'src/dwarf/wasm/line-program-code.ts',
  'assembly/function-scan.ts': 'src/dwarf/wasm/function-scan-code.ts',
};

/** The text of the module of src/ that holds the compiled one. @throws Error with what the compiler says */
export async function compile(source) {
  const options = ['--optimizeLevel', '3', '--noAssert', '--runtime', 'stub', '--use', 'abort=', '--outFile', 'module.wasm'];
  let wasm;
  const { error, stderr } = await asc.main([source, '--baseDir', ROOT, ...options], {
    writeFile: (_name, contents) => {
      wasm = contents;
    },
  });
  if (error || stderr.toString() !== '') throw new Error(`${source}: ${stderr.toString() || error.message}`);
  return [
    `// Compiled from ${source} by \`npm run generate\`. Not to be edited.`,
    '',
    '/** WebAssembly, in base64. */',
    `export const CODE =\n  '${Buffer.from(wasm).toString('base64')}';`,
    '',
  ].join('\n');
}

export { MODULES };

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [source, target] of Object.entries(MODULES)) {
    writeFileSync(join(ROOT, target), await compile(source));
    console.log(`${basename(source)} -> ${target}`);
  }
}
