import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { demangle } from '../../../src/demangle/demangle.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';

const run = (command: string, args: readonly string[], input = ''): string =>
  spawnSync(command, args, { input, maxBuffer: 1 << 28, encoding: 'utf8' }).stdout ?? '';

const version = run('c++filt', ['--version']).split('\n', 1)[0];
const hasNm = run('nm', ['--version']) !== '';
const library = findLibrary();

function findLibrary(): string | undefined {
  for (const directory of ['/usr/lib64', '/usr/lib', ...['x86_64', 'aarch64'].map((machine) => `/usr/lib/${machine}-linux-gnu`)]) {
    const name = existsSync(directory) ? readdirSync(directory).find((entry) => entry.startsWith('libstdc++.so')) : undefined;
    if (name !== undefined) return realpathSync(join(directory, name));
  }
  return undefined;
}

const canRun = version.startsWith('GNU') && hasNm && library !== undefined;
if (!canRun) announceSkipped('comparison of C++ names with c++filt', 'GNU c++filt, nm or libstdc++ is not installed');

describe.runIf(canRun)('every C++ name of libstdc++', () => {
  const symbols = canRun ? run('nm', ['-D', library]) : '';
  const names = [...new Set(Array.from(symbols.matchAll(/ (_Z[^@\s]+)/g), ([, name]) => name))];

  it.each([
    ['full', []],
    ['no-params', ['-p', '-i']],
  ] as const)('is what c++filt prints: %s', (style, options) => {
    const expected = run('c++filt', options, `${names.join('\n')}\n`).split('\n');
    const different = names.flatMap((name, i) => ((demangle(name, style) ?? name) === expected[i] ? [] : [[name, expected[i], demangle(name, style)]]));
    expect(names.length).toBeGreaterThan(1000);
    // Versions of c++filt differ in rare names.
    expect(different.slice(0, Math.max(0, different.length - names.length / 1000))).toEqual([]);
  });
});
