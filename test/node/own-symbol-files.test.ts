import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openRecording as openBytes } from '../../src/index.ts';
import { NodeSymbolFiles, openRecording, type ProfileOptions } from '../../src/node.ts';
import type { DebugFileKind, FetchedFile } from '../../src/symbols.ts';
import { failure } from '../support/failure.ts';
import { FixtureSymbolFiles } from '../support/fixture-symbols.ts';

const RECORDING = fileURLToPath(new URL('../../fixtures/threads.data', import.meta.url));
const PLACES = { symfs: '/symfs', kallsyms: '/kallsyms' };

async function foldedWith(options: ProfileOptions): Promise<string> {
  const recording = await openRecording(RECORDING);
  try {
    return new TextDecoder().decode(await (await recording.profile(options)).toBytes('folded'));
  } finally {
    await recording.close();
  }
}

test('files of the program give the same names in Node as for bytes, by paths that this machine does not have', async () => {
  const symbolFiles = new FixtureSymbolFiles();
  const folded = await foldedWith({ symbolFiles, ...PLACES });
  const profile = await (await openBytes(readFileSync(RECORDING))).profile({ symbolFiles, ...PLACES });
  expect(folded).toBe(new TextDecoder().decode(await profile.toBytes('folded')));
  expect(folded).toContain('work::reduce<double>');
});

test('a class that extends the files of this machine has a server of its own', async () => {
  const asked: string[] = [];
  class OwnServer extends NodeSymbolFiles {
    override async fetch(buildId: string, kind: DebugFileKind): Promise<FetchedFile> {
      asked.push(`${kind} ${buildId}`);
      return { source: undefined, places: [{ place: 'own server', outcome: 'absent', detail: '' }] };
    }
  }
  const recording = await openRecording(RECORDING);
  const profile = await recording.profile({ symbolFiles: new OwnServer(), symfs: fileURLToPath(new URL('../../fixtures/src', import.meta.url)) });
  const binary = profile.binaries.find(({ name }) => name.endsWith('/threads'));
  expect(binary?.places.map(({ place }) => place)).toContain('own server');
  expect(asked).toContainEqual(expect.stringMatching(/^executable [0-9a-f]{40}$/));
  await recording.close();
});

test('are not overwritten by outputs, whether options name them or they were found', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perfconv-own-'));
  try {
    const binary = join(folder, 'symfs/opt/perfconv-fixtures/bin/threads');
    mkdirSync(dirname(binary), { recursive: true });
    for (const [from, to] of [
      ['kallsyms', join(folder, 'kallsyms')],
      ['symfs/opt/perfconv-fixtures/bin/threads', binary],
    ])
      copyFileSync(fileURLToPath(new URL(`../../fixtures/${from}`, import.meta.url)), to);
    const recording = await openRecording(RECORDING);
    const options = { symbolFiles: new NodeSymbolFiles(), symfs: join(folder, 'symfs'), kallsyms: join(folder, 'kallsyms') };
    const profile = await recording.profile(options);
    for (const path of [options.kallsyms, binary]) {
      expect(await failure(profile.write('folded', path))).toEqual(['usage', `${path} would overwrite ${path}, which symbols were read from`]);
    }
    await recording.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('are not combined with servers, and are checked', async () => {
  const symbolFiles = new FixtureSymbolFiles();
  expect(await failure(foldedWith({ symbolFiles, debuginfod: 'env' }))).toEqual([
    'usage',
    'debuginfod cannot be combined with symbolFiles, whose fetch asks servers',
  ]);
  expect((await failure(foldedWith({ symbolFiles: {} as FixtureSymbolFiles })))[0]).toBe('usage');
});
