import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as perfconv from '../../src/index.ts';
import { ensureBuilt } from '../support/built-cli.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/library.md'), 'utf8');
const symbolsPage = readFileSync(join(root, 'docs/symbols.md'), 'utf8');
const example = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? '';

/** One row of the table of exports: the names, and the code of the example, unless that is the one above the table. */
interface Row {
  readonly names: readonly string[];
  readonly code: string | undefined;
}

const table = /^\| Name \|[\s\S]*?\n(?:\n|$)/m.exec(page)?.[0] ?? '';
const rows = [...table.matchAll(/^\| (`\w+`(?:, `\w+`)*) \| .*? \| (?:`([^`]+)`.*|above) \|$/gm)].map(
  ([, names, code]): Row => ({ names: [...names.matchAll(/\w+/g)].map(([name]) => name), code }),
);

/** What the table's examples assume. */
const PRELUDE = `
import { BufferSink, BufferSource, convert, DEFAULT_DEBUG_DIRS, demangle, Diagnostics, encodeText, FORMATS, mergeProfiles, outputFormatOf, parseTimeRanges, PerfconvError, ProfileMerger, readProfile, readRecords, readRecordingInfo, Symbolizer, writeProfile, writeReport } from 'perfconv';
import { demangle as demangleAlone } from 'perfconv/demangle';
import { NodeSymbolFiles } from 'perfconv/node';
import { readFileSync } from 'node:fs';
import { deepEqual } from 'node:assert/strict';
const bytes = readFileSync('perf.data');
const source = new BufferSource(bytes, 'perf.data');
const diagnostics = new Diagnostics();
const sink = new BufferSink();
const result = await convert(source, [{ format: 'speedscope', sink }], {}, diagnostics);
const { profile } = result;
`;

/** An example as a statement of its own. Its comment, if any, is the value that it must have. */
function statement({ code = '' }: Row): string {
  const [expression, value] = code.split(' // ');
  if (value !== undefined) return `deepEqual(${expression}, ${value});`;
  return `{ ${code.startsWith('catch') ? `try { throw new PerfconvError('usage', 'x'); } ${code}` : `${code};`} }`;
}

/** A folder in which programs see this package under its own name. */
let dir: string;
beforeAll(() => {
  ensureBuilt();
  dir = mkdtempSync(join(root, 'test', '.readme-'));
  copyFileSync(join(root, 'fixtures/threads.data'), join(dir, 'perf.data'));
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

function checkAndRun(name: string, text: string): string {
  writeFileSync(join(dir, `${name}.mts`), text);
  writeFileSync(
    join(dir, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { target: 'es2022', module: 'nodenext', strict: true, exactOptionalPropertyTypes: true, types: ['node'], outDir: 'out' },
      files: [`${name}.mts`],
    }),
  );
  try {
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json'], { cwd: dir, encoding: 'utf8' });
    return execFileSync(process.execPath, [`out/${name}.mjs`], { cwd: dir, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    // The compiler reports on its standard output.
    if (error instanceof Error && 'stdout' in error) throw new Error(`${error.message}\n${error.stdout}`, { cause: error });
    throw error;
  }
}

describe('the page about the library', () => {
  test('lists every export of the library, and none besides', () => {
    expect(rows.flatMap(({ names }) => names).sort()).toEqual(Object.keys(perfconv).sort());
  });

  test('has an example that type-checks and runs', () => {
    expect(example).toContain("from 'perfconv/node'");
    const printed = checkAndRun('example', example);
    expect(printed).toContain('cpu-clock: 436 samples, 218000000 nanoseconds');
  });

  test('links to an example of symbols without a recording that type-checks and runs', () => {
    const [, text] = /```ts\n([\s\S]*?)```/.exec(symbolsPage) ?? [];
    mkdirSync(join(dir, 'binaries/opt/app'), { recursive: true });
    copyFileSync(join(root, 'fixtures/debug/gcc5'), join(dir, 'binaries/opt/app/server'));
    expect(
      checkAndRun('symbols', text ?? '')
        .trimEnd()
        .split('\n'),
    ).toEqual(['0 outer::Ring<int, 4>::push(int) /src/outer.h:20', '0 outer::shared(int, int) /src/outer.h:32', '1 second /src/second.cc:9']);
  });

  test('has examples in its table that type-check and run', () => {
    const code = rows.filter((row) => row.code !== undefined).map(statement);
    expect(code.length).toBeGreaterThanOrEqual(7);
    checkAndRun('table', `${PRELUDE}${code.join('\n')}\ndeepEqual(demangleAlone('_Z1fi'), 'f(int)');\nconsole.log(FORMATS.length);\n`);
  });
});
