// Makes the JavaScript of dist/ from src/; tsc makes the declarations. Part of `npm run build`.
//
// Loading some 250 small modules takes Node longer than converting many recordings. In the library, what is always loaded together becomes one file, and what
// is loaded by import() stays separate. All of its entries are bundled in one go, so that they share their common code: a PerfconvError is of the same class,
// whichever entry it came through. The command line's program is one script, because V8's compiled code of a script can be cached in one piece
// (src/host/program/code-cache.ts).

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { compileConverter, licensesOf } from './viewer/build.mjs';

/** Modules of src/ that package.json exports, by their path in dist/. */
const LIBRARY = ['index', 'symbols', 'node', 'unwind', 'demangle', 'proto/profile_pb'];
/** What bin/perfconv.js starts, and what that starts in a thread. Both load the program. */
const STARTERS = ['cli/entry', 'cli/worker'];
const PROGRAM = 'cli/program';
/** Dependencies that each run of the program needs, and that are part of its script. */
const BUNDLED = ['yargs-parser', 'picocolors'];
/** Packages that are part of the library, in files of their own that only some recordings need: module workers and pages without a bundler find no packages. */
const INCLUDED = ['@bufbuild/protobuf', 'pako', 'xz-decompress'];
/** What the library still imports from a package: messages have to be those of the `@bufbuild/protobuf` that the user has. */
const PEER_MODULES = ['@bufbuild/protobuf/codegenv2'];

const root = fileURLToPath(new URL('.', import.meta.url));
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const input = (entries) => Object.fromEntries(entries.map((entry) => [entry, `src/${entry}.ts`]));
const external = (names) => [/^node:/, ...names.map((name) => new RegExp(`^${name}(/|$)`))];

const common = {
  cwd: root,
  transform: { target: 'es2022' },
  // Warnings are errors: a module that is not found, for example, would be taken for a dependency's. But what one entry loads later, another may load at once.
  onLog(level, { code, message }) {
    if (level === 'warn' && code !== 'INEFFECTIVE_DYNAMIC_IMPORT') throw new Error(message);
  },
};
const output = {
  dir: 'dist',
  minifyInternalExports: false,
  // V8 reads all of a file before it runs any of it, and keeps a file of only ASCII in half the memory. Declarations keep the comments.
  comments: false,
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
  sourcemap: true,
};

const { output: chunks } = await build({
  ...common,
  input: input(LIBRARY),
  external: external(PEER_MODULES),
  // The library runs in browsers, too.
  platform: 'neutral',
  // xz-decompress has no other entry than this one.
  resolve: { mainFields: ['main'] },
  // It requires this for engines without a global ReadableStream, and its package.json leaves it out for browsers.
  plugins: [replacement('stream/web', 'export {};')],
  // Names stay the same from build to build.
  output: { ...output, chunkFileNames: 'chunks/[name].js' },
});

await build({
  ...common,
  input: input(STARTERS),
  external: external([]),
  platform: 'node',
  output: { ...output, format: 'cjs', entryFileNames: '[name].cjs', chunkFileNames: 'cli/[name].cjs' },
});

const { output: parts } = await build({
  ...common,
  input: input([PROGRAM]),
  external: external(Object.keys(dependencies).filter((name) => !BUNDLED.includes(name))),
  platform: 'node',
  plugins: [{ name: 'import-module', renderChunk: (code) => ({ code: code.replaceAll(/\bimport\((?=")/g, 'importModule('), map: null }) }],
  output: {
    ...output,
    format: 'cjs',
    codeSplitting: false,
    entryFileNames: '[name].cjs',
    // One expression, as loadScript expects.
    banner: '(function (exports, require, __filename, importModule) {',
    footer: '})',
  },
});
removeUnusedDeclarations();
writeFileSync(join(root, 'dist', 'chunks', 'LICENSES.txt'), libraryLicenses(chunks));
writeFileSync(join(root, 'dist', 'cli', 'LICENSES.txt'), programLicenses(parts));

writeFileSync(join(root, 'dist', 'perfconv.html'), await compileConverter());

/** Removes the declarations that no entry leads to, three in four: nobody can import them. */
function removeUnusedDeclarations() {
  const dist = join(root, 'dist');
  const declarations = new Set(LIBRARY.map((entry) => join(dist, `${entry}.d.ts`)));
  for (const path of declarations) {
    for (const [, specifier] of readFileSync(path, 'utf8').matchAll(/(?:\bfrom |\bimport\(|\bimport )['"](\.[^'"]+)\.ts['"]/g))
      declarations.add(join(dirname(path), `${specifier}.d.ts`));
  }
  const all = readdirSync(dist, { recursive: true }).filter((path) => path.endsWith('.d.ts'));
  for (const path of all) if (!declarations.has(join(dist, path))) rmSync(join(dist, path));
}

/** The licenses of the packages in the library. @throws Error if another package got into it */
function libraryLicenses(chunks) {
  packagesIn(chunks, INCLUDED);
  return `${licensesOf(modulesIn(chunks))}\n`;
}

/** The licenses of the dependencies in the program's script, which they require. @throws Error if another dependency got into it */
function programLicenses(parts) {
  return [...packagesIn(parts, BUNDLED)]
    .map(([name, directory]) => {
      const license = ['LICENSE', 'LICENSE.txt', 'LICENSE.md'].map((file) => join(directory, file)).find((path) => existsSync(path));
      return `program.cjs contains ${name}:\n\n${readFileSync(license, 'utf8').trim()}\n`;
    })
    .join('\n\n');
}

/** The directories of the packages that are in what was bundled, by name. @throws Error unless these are the expected ones */
function packagesIn(parts, expected) {
  const packages = new Map(modulesIn(parts).flatMap((id) => packageOf(id)));
  if ([...packages.keys()].sort().join() !== [...expected].sort().join()) throw new Error(`bundled: ${[...packages.keys()]}`);
  return packages;
}

/** The modules of packages that are in what was bundled. */
function modulesIn(parts) {
  return parts.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : [])).filter((id) => id.includes('/node_modules/'));
}

function packageOf(id) {
  const [path, name] = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id) ?? [];
  return path === undefined ? [] : [[name, path]];
}

/** A plugin that takes a text for a module. */
function replacement(name, code) {
  return { name, resolveId: (id) => (id === name ? `\0${name}` : undefined), load: (id) => (id === `\0${name}` ? code : undefined) };
}
