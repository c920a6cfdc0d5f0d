// Compiles the AssemblyScript of this folder to modules of WebAssembly. Writes each as text into src/, with the types of its exports and imports, so that it is
// loaded without a file. Part of `npm run generate`: what is generated is kept with the sources, and a test fails if it is out of date.

import { writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The modules: the source that exports everything of one, and where the module goes. Paths are relative to the repository's root. */
export const MODULES = [
  { source: 'assembly/dwarf/index.ts', target: 'src/dwarf/wasm/module.ts' },
  { source: 'assembly/kallsyms/index.ts', target: 'src/symbolizer/kernel/wasm/module.ts' },
  { source: 'assembly/symtab/index.ts', target: 'src/elf/wasm/module.ts' },
  { source: 'assembly/unwind/index.ts', target: 'src/unwind/wasm/module.ts' },
  { source: 'assembly/zstd/index.ts', target: 'src/zstd/wasm/module.ts' },
];

const OPTIONS = ['--optimizeLevel', '3', '--noAssert', '--runtime', 'stub', '--use', 'abort='];

/** The text of a module's target. @throws Error with what the compiler says */
export async function compile({ source, target }) {
  const { wasm, 'd.ts': declarations, wat } = await runCompiler(source);
  return `// Compiled from ${source} by \`npm run generate\`. Not to be edited.

import type { WasmGlobal, WasmMemory } from '${relative(dirname(target), 'src/base/bytes/web-assembly.ts')}';

/** The module's exports. Values are as WebAssembly has them: truth values are 0 and 1. */
export interface WasmExports {
${exportedMembers(source, declarations).join('\n')}
}
${importsText(importedMembers(source, wat))}
/** WebAssembly, in base64. */
export const CODE =
  '${Buffer.from(wasm).toString('base64')}';
`;
}

/** Output files of the compiler, by extension. */
async function runCompiler(source) {
  const files = {};
  const outputs = ['--outFile', 'module.wasm', '--textFile', 'module.wat', '--bindings', 'raw'];
  const { error, stderr } = await asc.main([source, '--baseDir', ROOT, ...OPTIONS, ...outputs], {
    writeFile: (name, contents) => {
      files[name.slice(name.indexOf('.') + 1)] = contents;
    },
  });
  if (error || stderr.toString() !== '') throw new Error(`${source}: ${stderr.toString() || error.message}`);
  return files;
}

/** The members of an interface, from the declarations that the compiler writes for an adapter between the values of JavaScript and WebAssembly. */
function exportedMembers(source, declarations) {
  const members = [];
  for (const [, name, type] of declarations.matchAll(/^ {2}export const (\w+): (\{|WebAssembly\.Memory;)/gm))
    members.push(`  readonly ${name}: ${type === '{' ? 'WasmGlobal' : 'WasmMemory'};`);
  for (const [, name, parameters, result] of declarations.matchAll(/^ {2}export function (\w+)\((.*)\): (\w+);$/gm))
    members.push(method(name, parameters.split(', '), result === 'boolean' ? 'number' : result));
  const all = declarations.match(/^ {2}export /gm).length;
  if (members.length !== all) throw new Error(`${source}: of ${all} exports only ${members.length} are understood`);
  return members;
}

/** A method in the formatter's style: if it is longer than a line, each parameter gets its own. */
function method(name, parameters, result) {
  const line = `  ${name}(${parameters.join(', ')}): ${result};`;
  return line.length <= 160 ? line : `  ${name}(\n${parameters.map((parameter) => `    ${parameter},\n`).join('')}  ): ${result};`;
}

/** The members of an interface, from the text format: `(import "host" "name" (func $… (param i32 f64) (result i32)))`. */
function importedMembers(source, wat) {
  const imports = wat.matchAll(/\(import "host" "(\w+)" \(func \$\S+(?: \(param ([^)]*)\))?(?: \(result (\w+)\))?\)\)/g);
  const members = Array.from(imports, ([, name, parameters, result]) => {
    const list = (parameters?.split(' ') ?? []).map((_, i) => `${'abcdef'[i]}: number`).join(', ');
    return `  ${name}(${list}): ${result === undefined ? 'void' : 'number'};`;
  });
  const all = (wat.match(/\(import /g) ?? []).length;
  if (members.length !== all) throw new Error(`${source}: of ${all} imports only ${members.length} are understood`);
  return members;
}

/** The interface of a module's imports; empty if it has none. */
function importsText(members) {
  if (members.length === 0) return '';
  return `
/** The functions of TypeScript that it calls: see host.ts beside the source. */
export interface WasmImports {
${members.join('\n')}
}
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const module of MODULES) {
    writeFileSync(join(ROOT, module.target), await compile(module));
    console.log(module.target);
  }
}
