import { expect, test } from 'vitest';
import { ChosenFiles } from '../../viewer/converter/chosen-files.ts';
import type { ChosenFile } from '../../viewer/converter/messages.ts';
import { VanishedFile } from '../support/vanished-file.ts';

function file(path: string, text: string, lastModified = 1): ChosenFile {
  return { path, data: new File([text], path, { lastModified }) };
}

async function afterAdding(...chosen: ChosenFile[]): Promise<ChosenFile[]> {
  const files = new ChosenFiles();
  for (const one of chosen) await files.add([one]);
  return files.all().map((known) => known.chosen);
}

test('a file that is chosen again counts once', async () => {
  const again = file('perf.data', 'PERFILE2');
  expect(await afterAdding(file('perf.data', 'PERFILE2'), again)).toEqual([again]);
});

test('files of the same name are all kept', async () => {
  const [program, debugFile, newer] = [file('app', '\x7fELF1'), file('app', '\x7fELF 2'), file('app', '\x7fELF3', 2)];
  expect(await afterAdding(program, debugFile, newer)).toEqual([program, debugFile, newer]);
});

test('files that are chosen while others are looked at are kept, too', async () => {
  const files = new ChosenFiles();
  const [some, others] = [file('perf.data', 'PERFILE2 some'), file('perf.data', 'PERFILE2 others')];
  await files.add([file('perf.data', 'PERFILE2')]);
  await Promise.all([files.add([some]), files.add([others])]);
  expect(files.of('recording')).toHaveLength(3);
});

test('a file that has changed is replaced', async () => {
  const [other, changed] = [file('perf.data', 'PERFILE2 other'), file('perf.data', 'PERFILE2 new', 2)];
  expect(await afterAdding({ path: 'perf.data', data: new VanishedFile('perf.data', 9) }, other, changed)).toEqual([other, changed]);
});

test('files are found by their kind, in the order in which they were chosen', async () => {
  const files = new ChosenFiles();
  const many = Array.from({ length: 150 }, (_, nth) => file(`${nth}.data`, nth % 2 === 0 ? 'PERFILE2' : 'notes'));
  await files.add(many);
  expect(files.of('recording')).toEqual(many.filter((_, nth) => nth % 2 === 0));
  expect(files.of('other')).toHaveLength(75);
  expect(files.of('kallsyms')).toEqual([]);
});
