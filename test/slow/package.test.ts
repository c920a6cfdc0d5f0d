import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { ensureBuilt } from '../support/built-cli.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dist = join(root, 'dist');
const entries = Object.values(packageJson.exports).filter((one) => typeof one === 'object');

beforeAll(ensureBuilt);

/** What a built module loads, itself (`static`) and when it comes to it (`lazy`). */
function importsOf(file: string): { static: string[]; lazy: string[] } {
  const text = readFileSync(join(dist, file), 'utf8');
  const named = (pattern: RegExp): string[] =>
    [...text.matchAll(pattern)].map(([, specifier]) => (specifier.startsWith('.') ? relative(dist, join(dist, dirname(file), specifier)) : specifier));
  return { static: named(/^(?:import|export) (?:[^;'"()]* from )?"([^"]+)";$/gm), lazy: named(/\bimport\("([^"]+)"\)/g) };
}

/** The modules that are loaded with one of dist/, itself included: files of dist/, packages, modules of Node. */
function loadedWith(file: string, withLazy = false): Set<string> {
  const loaded = new Set([file]);
  for (const one of loaded) {
    if (!one.endsWith('.js')) continue;
    const imports = importsOf(one);
    for (const next of withLazy ? [...imports.static, ...imports.lazy] : imports.static) loaded.add(next);
  }
  return loaded;
}

const packagesOf = (loaded: ReadonlySet<string>): string[] => [...loaded].filter((name) => !name.endsWith('.js') && !name.startsWith('node:'));

describe('what is built', () => {
  test('has code and declarations for every export', () => {
    expect(entries.length).toBe(6);
    const paths = entries.flatMap(({ types, default: code }) => [types, code]);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test.each(['index.js', 'symbols.js', 'unwind.js', 'demangle.js', 'proto/profile_pb.js'])('runs in browsers: %s', (entry) => {
    const loaded = [...loadedWith(entry, true)];
    expect(loaded.filter((name) => name.startsWith('node:'))).toEqual([]);
    expect(loaded.some((name) => name.endsWith('.js'))).toBe(true);
  });

  test('loads the demangler alone', () => {
    expect([...loadedWith('demangle.js', true)]).toEqual(['demangle.js', 'chunks/demangle.js', 'chunks/text.js']);
  });

  test('loads symbols without what reads and writes recordings', () => {
    const loaded = [...loadedWith('symbols.js', true), ...loadedWith('node.js')];
    expect(loaded).toContain('chunks/symbolizer.js');
    // The largest one: sessions, names, formats.
    const reading = 'chunks/require-samples.js';
    expect(loadedWith('index.js')).toContain(reading);
    expect(loadedWith('chunks/recording.js')).toContain(reading);
    expect(loaded).not.toContain(reading);
  });

  test('loads no dependency that a run does not need', () => {
    expect(packagesOf(loadedWith('cli/entry.js'))).toEqual([]);
    expect(packagesOf(loadedWith('chunks/parse.js'))).toEqual(['yargs-parser']);
    expect(packagesOf(loadedWith('chunks/convert-command.js'))).toEqual([]);
    expect(packagesOf(loadedWith('chunks/folded.js'))).toEqual([]);
    expect(packagesOf(loadedWith('chunks/pprof.js'))).toEqual([]);
    // The same walk finds what is needed.
    expect(packagesOf(loadedWith('chunks/help.js'))).toEqual(['yargs']);
  });

  test('depends on nothing but its dependencies', () => {
    const used = new Set([
      ...packagesOf(loadedWith('cli/entry.js', true)),
      ...packagesOf(loadedWith('index.js', true)),
      ...packagesOf(loadedWith('proto/profile_pb.js')),
    ]);
    const names = [...used].map((specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)![0]);
    expect([...new Set(names)].sort()).toEqual(Object.keys(packageJson.dependencies).sort());
  });
});
