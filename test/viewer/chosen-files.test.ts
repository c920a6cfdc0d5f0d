import { describe, expect, test } from 'vitest';
import { ChosenFiles } from '../../viewer/converter/chosen-files.ts';
import { identifyAll } from '../../viewer/converter/file-kinds.ts';
import type { ChosenFile } from '../../viewer/converter/messages.ts';
import { VanishedFile } from '../support/vanished-file.ts';

function file(path: string, text: string, lastModified = 1): ChosenFile {
  return { path, data: new File([text], path, { lastModified }) };
}

async function afterAdding(...chosen: ChosenFile[]): Promise<ChosenFile[]> {
  const files = new ChosenFiles(identifyAll);
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
  const files = new ChosenFiles(identifyAll);
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
  const files = new ChosenFiles(identifyAll);
  const many = Array.from({ length: 150 }, (_, nth) => file(`${nth}.data`, nth % 2 === 0 ? 'PERFILE2' : 'notes'));
  await files.add(many);
  expect(files.of('recording')).toEqual(many.filter((_, nth) => nth % 2 === 0));
  expect(files.of('other')).toHaveLength(75);
  expect(files.of('kallsyms')).toEqual([]);
});

describe('the files of a directory recording', () => {
  const sorted = async (...batches: ChosenFile[][]): Promise<{ recordings: unknown[]; others: string[] }> => {
    const files = new ChosenFiles(identifyAll);
    for (const batch of batches) await files.add(batch);
    const { recordings, others } = files.sorted();
    return {
      recordings: recordings.map(({ path, data }) => [path, data instanceof Blob ? 1 : data.map((one) => one.path)]),
      others: others.map(({ kind, file: { path } }) => `${path}: ${kind}`),
    };
  };
  const main = file('x/web.data/data', 'PERFILE2');
  const [part, list] = [file('x/web.data/data.0', 'records'), file('x/web.data/kcore_dir/kallsyms', 'ffffffff81000000 T _stext')];

  test('are one recording', async () => {
    const beside = [file('x/web.data/notes', 'text'), file('x/data.0', 'records'), file('x/kallsyms', 'ffffffff81000000 T _stext')];
    expect(await sorted([list, part, ...beside, main])).toEqual({
      recordings: [['x/web.data', ['x/web.data/data', 'x/web.data/kcore_dir/kallsyms', 'x/web.data/data.0']]],
      others: ['x/web.data/notes: other', 'x/data.0: part', 'x/kallsyms: kallsyms'],
    });
    const alone = [file('data', 'PERFILE2'), file('data.1', 'records')];
    expect((await sorted(alone)).recordings).toEqual([['data', ['data', 'data.1']]]);
  });

  test('are those that were chosen together', async () => {
    expect(await sorted([main, part], [file('x/web.data/data', 'PERFILE2 other'), file('x/web.data/data.0', 'other records')])).toEqual({
      recordings: [
        ['x/web.data', ['x/web.data/data', 'x/web.data/data.0']],
        ['x/web.data', ['x/web.data/data', 'x/web.data/data.0']],
      ],
      others: [],
    });
  });

  test('stay together if one of them is chosen again, by itself or changed', async () => {
    const whole = { recordings: [['x/web.data', ['x/web.data/data', 'x/web.data/data.0']]], others: [] };
    expect(await sorted([main, part], [part])).toEqual(whole);
    expect(await sorted([main, part], [main])).toMatchObject({ others: [] });
    const vanished = { path: part.path, data: new VanishedFile('data.0', 9) };
    expect(await sorted([main, vanished], [part])).toEqual(whole);
  });

  test('come together if they are chosen together later', async () => {
    expect(await sorted([main], [main, part])).toEqual({ recordings: [['x/web.data', ['x/web.data/data', 'x/web.data/data.0']]], others: [] });
    expect(await sorted([part], [main], [part, main])).toMatchObject({ others: [] });
  });

  test('are a usual recording without parts', async () => {
    expect(await sorted([main], [part])).toEqual({ recordings: [['x/web.data/data', 1]], others: ['x/web.data/data.0: part'] });
  });
});

test('kernels’ files that share a path get paths of their own', async () => {
  const files = new ChosenFiles(identifyAll);
  for (const time of [1, 2]) await files.add([file('kallsyms', 'ffffffff81000000 T _stext', time), file('app', '\x7fELF', time)]);
  expect(files.sorted().others.map((known) => known.file.path)).toEqual(['kallsyms', 'kallsyms (2)', 'app', 'app']);
});
