import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const directory = fileURLToPath(new URL('../fixtures/', import.meta.url));
const provenance = readFileSync(join(directory, 'PROVENANCE.md'), 'utf8');
const files = readdirSync(directory, { recursive: true, encoding: 'utf8', withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(directory.length).replaceAll('\\', '/'));
const recordings = files.filter((name) => name.endsWith('.data'));
const programs = files.filter((name) => /^(?:debug\/[\w-]+(?:\.dwp)?|symbol-files\/\w+(?:\.(?:alt|debug|dwo|ko))?)$/.test(name));
const listed = [...files.filter((name) => /\.data(?:\/|$)/.test(name) || name.startsWith('symfs/') || name === 'kallsyms'), ...programs];

test.each(listed)('%s is the file that PROVENANCE.md describes', (name) => {
  const bytes = readFileSync(join(directory, name));
  const row = provenance.split('\n').find((line) => line.startsWith(`| ${name} |`));
  expect(row).toContain(`| ${bytes.length} |`);
  expect(row).toContain(createHash('sha256').update(bytes).digest('hex'));
});

test('PROVENANCE.md lists no missing file', () => {
  const rows = [...provenance.matchAll(/^\| (\S+) \|(?=.*\b[0-9a-f]{64}\b)/gm)].map((match) => match[1]);
  expect(rows.sort()).toEqual([...listed].sort());
});

test.each(recordings.filter((name) => name.startsWith('fuzz/')))('%s contains no path of a machine', (name) => {
  const text = readFileSync(join(directory, name), 'latin1');
  // The paths in recordings of the encoder are not from a machine.
  expect(pathsIn(text).filter((path) => !/^\/(?:opt\/bin\/\w+|tmp\/jit-200\.dump)$/.test(path))).toEqual([]);
});

test.each(recordings.filter((name) => !name.startsWith('fuzz/')))('%s contains only paths of the fixtures and the system, and no real host', (name) => {
  const text = readFileSync(join(directory, name), 'latin1');
  const paths = pathsIn(text);
  expect(paths.filter((path) => !/^\/(?:opt\/perfconv-fixtures|usr\/(?:lib|bin)|lib|lib64|etc\/ld\.so|bin)\b/.test(path))).toEqual([]);
  expect(paths.length).toBeGreaterThan(0);
  // perf pads the string to 64 bytes, and puts that length before it.
  expect(text).toContain(`\x40\0\0\0fixture-host\0`);
});

function pathsIn(text: string): string[] {
  return [...text.matchAll(/\/[\w.@+:-]+(?:\/[\w.@+: -]+)+/g)].map((match) => match[0]);
}

// /core is where Rust's own library is below its folder; /@ is the name of a unit.
test.each(programs)('%s contains no path of a machine', (name) => {
  const paths = pathsIn(readFileSync(join(directory, name), 'latin1'));
  expect(paths.filter((path) => !/^\/(?:src|rustc|core|@)\//.test(path))).toEqual([]);
});

test('recordings and programs are small', () => {
  const sizes = listed.map((name) => readFileSync(join(directory, name)).length);
  expect(Math.max(...sizes)).toBeLessThan(400_000);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(3_000_000);
});
