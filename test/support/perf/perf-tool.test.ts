import { readdirSync, readFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const tests = fileURLToPath(new URL('../../', import.meta.url));

test('tests have a home directory of their own', () => {
  expect(homedir().startsWith(join(tmpdir(), 'perfconv-home-'))).toBe(true);
});

test('tests record only through perf-tool.ts', () => {
  const sources = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts') && !name.endsWith('perf-tool.ts'));
  const others = sources.filter((name) => /['"]perf['"],\s*\[\s*['"]record['"]/.test(readFileSync(join(tests, name), 'utf8')));
  expect(others).toEqual([]);
});
