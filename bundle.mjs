// Makes the JavaScript of dist/ from src/; its declarations are tsc's. Part of `npm run build`.
//
// Node takes longer to load some 250 small modules than many a recording takes to be converted: what is always loaded together
// becomes one file here, and what is loaded by import() stays apart. All entries are bundled in one go, so that they share what they
// have in common: a PerfconvError is of the same class, whichever of them it came through.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

/** Modules of src/ that are loaded by their path in dist/: by bin/perfconv.js, and as `exports` in package.json has them. */
const ENTRIES = ['cli/entry', 'cli/worker', 'index', 'symbols', 'node', 'unwind', 'demangle', 'proto/profile_pb'];

const { dependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

await build({
  cwd: fileURLToPath(new URL('.', import.meta.url)),
  input: Object.fromEntries(ENTRIES.map((entry) => [entry, `src/${entry}.ts`])),
  external: [/^node:/, ...Object.keys(dependencies).map((name) => new RegExp(`^${name}(/|$)`))],
  // The library runs in browsers, too.
  platform: 'neutral',
  transform: { target: 'es2022' },
  // Such as that a module is not found and is taken for one of a dependency.
  onLog(level, { message }) {
    if (level === 'warn') throw new Error(message);
  },
  output: {
    dir: 'dist',
    // Names stay the same from build to build.
    chunkFileNames: 'chunks/[name].js',
    minifyInternalExports: false,
    // V8 reads all of a file before it runs any of it, and keeps one of ASCII alone in half the memory. Declarations keep the comments.
    comments: false,
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
    sourcemap: true,
  },
});
