import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { ensureBuilt } from '../support/programs/built-cli.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dist = join(root, 'dist');
const entries = Object.values(packageJson.exports).filter((one) => typeof one === 'object');

beforeAll(ensureBuilt);

/** What a built module loads at once (`static`) and when it is needed (`lazy`). */
function importsOf(file: string): { static: string[]; lazy: string[] } {
  const text = readFileSync(join(dist, file), 'utf8');
  const named = (pattern: RegExp): string[] =>
    [...text.matchAll(pattern)].map(([, specifier]) => (specifier.startsWith('.') ? relative(dist, join(dist, dirname(file), specifier)) : specifier));
  return { static: named(/^(?:import|export) (?:[^;'"()]* from )?"([^"]+)";$/gm), lazy: named(/\bimport\("([^"]+)"\)/g) };
}

/** The modules that are loaded with one in dist/, including itself: files in dist/, packages, modules of Node. */
function loadedWith(file: string, withLazy = false): Set<string> {
  const loaded = new Set([file]);
  for (const one of loaded) {
    if (!one.endsWith('.js')) continue;
    const imports = importsOf(one);
    for (const next of withLazy ? [...imports.static, ...imports.lazy] : imports.static) loaded.add(next);
  }
  return loaded;
}

/** What the program's script loads at once, and when it is needed. */
function importsOfProgram(): { required: string[]; lazy: string[] } {
  const text = readFileSync(join(dist, 'cli/program.cjs'), 'utf8');
  const named = (pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, specifier]) => specifier);
  return { required: named(/\brequire\("([^"]+)"\)/g), lazy: named(/\bimport(?:Module)?\("([^"]+)"\)/g) };
}

const packagesOf = (loaded: ReadonlySet<string>): string[] => [...loaded].filter((name) => !name.endsWith('.js') && !name.startsWith('node:'));

describe('the build', () => {
  test('has code and declarations for every export', () => {
    expect(entries.length).toBe(6);
    const paths = entries.flatMap(({ types, default: code }) => [types, code]);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test.each(['index.js', 'symbols.js', 'unwind.js', 'demangle.js', 'proto/profile_pb.js'])('has an entry that runs in browsers: %s', (entry) => {
    const loaded = [...loadedWith(entry, true)];
    expect(loaded.filter((name) => name.startsWith('node:'))).toEqual([]);
    expect(loaded.some((name) => name.endsWith('.js'))).toBe(true);
  });

  test('loads the demangler with nothing else', () => {
    expect([...loadedWith('demangle.js', true)]).toEqual(['demangle.js', 'chunks/demangle.js', 'chunks/text.js']);
  });

  test('loads symbols without the code that reads and writes recordings', () => {
    const loaded = [...loadedWith('symbols.js', true), ...loadedWith('node.js')];
    expect(loaded).toContain('chunks/symbolizer.js');
    // The largest chunk: sessions, names, formats.
    const reading = 'chunks/profile.js';
    expect(loadedWith('index.js')).toContain(reading);
    expect(loadedWith('chunks/recording.js')).toContain(reading);
    expect(loaded).not.toContain(reading);
  });

  test('loads only the dependencies that the library needs', () => {
    expect(packagesOf(loadedWith('index.js'))).toEqual([]);
    expect(packagesOf(loadedWith('node.js'))).toEqual([]);
    expect(packagesOf(loadedWith('chunks/folded.js'))).toEqual([]);
    expect(packagesOf(loadedWith('chunks/pprof.js'))).toEqual([]);
    // The same walk finds a dependency that is needed.
    expect(packagesOf(loadedWith('proto/profile_pb.js'))).toContain('@bufbuild/protobuf/codegenv2');
  });

  test('has in the library the packages that it needs, so that pages and module workers need no bundler', () => {
    expect(packagesOf(loadedWith('index.js', true))).toEqual([]);
    const lazy = ['bounded-bytes', 'profile'].flatMap((chunk) => importsOf(`chunks/${chunk}.js`).lazy);
    expect([...importsOf('index.js').lazy, ...lazy]).toEqual(expect.arrayContaining(['chunks/pako.js', 'chunks/wire.js', 'chunks/xz-decompress.js']));
    // Not every bundler of users can take a module of Node that is required.
    expect(readFileSync(join(dist, 'chunks/xz-decompress.js'), 'utf8')).not.toMatch(/\brequire\(/);
    // The reader of messages alone, without all of protobuf.
    expect(statSync(join(dist, 'chunks/wire.js')).size).toBeLessThan(20_000);
    expect(readFileSync(join(dist, 'chunks/LICENSES.txt'), 'utf8')).toMatch(
      /^MIT License\n.*\n\nIt contains\n\nxz-decompress.*\n\npako.*@bufbuild\/protobuf.*Apache License/s,
    );
  });

  test('has declarations of what its entries export, and no others', () => {
    const folders = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.d.ts'));
    expect(folders).toContain(join('library', 'profile.d.ts'));
    expect(folders.filter((path) => /^(?:cli|records|unwrap)\b/.test(path))).toEqual([]);
  });

  test('has a program of one script, in ASCII, that loads other packages only when they are needed', () => {
    expect(readdirSync(join(dist, 'cli')).filter((name) => /\.c?js$/.test(name))).toEqual(['entry.cjs', 'program.cjs', 'run-program.cjs', 'worker.cjs']);
    expect(importsOfProgram().required.filter((name) => !isBuiltin(name))).toEqual([]);
    expect(importsOfProgram().required).toContain('node:fs');
    // Parts of Node that take time to load, and that only one command needs.
    const slowToLoad = ['node:child_process', 'node:crypto', 'node:http', 'node:https'];
    expect(importsOfProgram().required.filter((name) => slowToLoad.includes(name))).toEqual([]);
    expect(importsOfProgram().lazy.sort()).toEqual(['@bufbuild/protobuf/wire', 'node:child_process', 'node:http', 'xz-decompress', 'yargs']);
    expect(readFileSync(join(dist, 'cli/program.cjs')).every((byte) => byte < 0x80)).toBe(true);
  });

  test('has the licenses of the packages that the program includes', () => {
    const licenses = readFileSync(join(dist, 'cli/LICENSES.txt'), 'utf8');
    expect([...licenses.matchAll(/^program\.cjs contains (\S+):$/gm)].map(([, name]) => name).sort()).toEqual(['picocolors', 'yargs-parser']);
    expect(licenses.match(/Permission to use, copy, modify/g)).toHaveLength(2);
  });

  test('needs exactly its declared dependencies', () => {
    const used = new Set([
      ...importsOfProgram().lazy.filter((name) => !isBuiltin(name)),
      // Included in the script of the program.
      ...['picocolors', 'yargs-parser'],
      ...packagesOf(loadedWith('index.js', true)),
      ...packagesOf(loadedWith('proto/profile_pb.js')),
    ]);
    const names = [...used].map((specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)![0]);
    expect([...new Set(names)].sort()).toEqual(Object.keys(packageJson.dependencies).sort());
  });
});
