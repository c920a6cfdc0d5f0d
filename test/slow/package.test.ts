import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { ensureBuilt } from '../support/built-cli.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dist = join(root, 'dist');
const entries = Object.values(packageJson.exports).filter((one) => typeof one === 'object');

let dir: string;
beforeAll(() => {
  ensureBuilt();
  dir = mkdtempSync(join(tmpdir(), 'perfconv-package-'));
  mkdirSync(join(dir, 'node_modules'));
  symlinkSync(root, join(dir, 'node_modules/perfconv'), 'junction');
  symlinkSync(join(root, 'node_modules/@types'), join(dir, 'node_modules/@types'), 'junction');
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

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
    expect(entries.length).toBe(5);
    const paths = entries.flatMap(({ types, default: code }) => [types, code]);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test.each(['index.js', 'symbols.js', 'demangle.js', 'proto/profile_pb.js'])('runs in browsers: %s', (entry) => {
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
    expect(loadedWith('index.js')).toContain('chunks/convert.js');
    expect(loaded).not.toContain('chunks/convert.js');
  });

  test('loads no dependency that a run does not need', () => {
    expect(packagesOf(loadedWith('cli/entry.js'))).toEqual([]);
    expect(packagesOf(loadedWith('chunks/parse.js'))).toEqual(['yargs-parser']);
    expect(packagesOf(loadedWith('chunks/convert-command.js'))).toEqual([]);
    expect(packagesOf(loadedWith('chunks/folded.js'))).toEqual([]);
    // The same walk finds what is needed.
    expect(packagesOf(loadedWith('chunks/help.js'))).toEqual(['yargs']);
    expect(packagesOf(loadedWith('chunks/pprof.js'))).toEqual(['@bufbuild/protobuf/wire']);
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

const CONSUMER = `
import { type ConvertOptions, demangle, PerfconvError, type PerfconvErrorCode, Symbolizer } from 'perfconv';
import { openFile } from 'perfconv/node';
import { type DemangleStyle, demangle as demangleAlone } from 'perfconv/demangle';
import { ProfileSchema } from 'perfconv/profile_pb';
import { type CodeObject, Symbolizer as SymbolizerAlone } from 'perfconv/symbols';

const style: DemangleStyle = 'full';
// @ts-expect-error: declarations are found, so that this is seen
const code: PerfconvErrorCode = 'no such code';
// @ts-expect-error: the same of code
const kind: CodeObject['kind'] = 'no such kind';
// @ts-expect-error: the same of options
const options: ConvertOptions = { symbols: 1 };
let isSame = false;
try {
  await openFile('there is no such file');
} catch (error) {
  isSame = error instanceof PerfconvError;
}
console.log(JSON.stringify([isSame, demangle === demangleAlone, Symbolizer === SymbolizerAlone, demangleAlone('_Z1fi', style), ProfileSchema.typeName]));
`;

describe('whoever uses the package', () => {
  test.each([
    ['node16', 'node16'],
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('gets types and one copy of everything: module %s, resolved as %s', (module, moduleResolution) => {
    const name = `consumer-${module}`;
    writeFileSync(join(dir, `${name}.mts`), CONSUMER);
    const compilerOptions = { target: 'es2022', module, moduleResolution, strict: true, types: ['node'], outDir: 'out' };
    writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [`${name}.mts`] }));
    try {
      execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json'], { cwd: dir, encoding: 'utf8' });
    } catch (error) {
      // What the compiler says stands on its standard output.
      throw error instanceof Error && 'stdout' in error ? new Error(`${error.message}\n${error.stdout}`, { cause: error }) : error;
    }
    const printed = execFileSync(process.execPath, [join('out', `${name}.mjs`)], { cwd: dir, encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual([true, true, true, 'f(int)', 'perftools.profiles.Profile']);
  });
});
