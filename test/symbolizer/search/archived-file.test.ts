import { beforeEach, describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { readRange } from '../../../src/base/streams/byte-source.ts';
import { SymbolSearch } from '../../../src/symbolizer/inputs/search-log.ts';
import { openArchived } from '../../../src/symbolizer/search/archived-file.ts';
import { Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import { buildElf, TEXT } from '../../support/builders/elf/elf-builder.ts';
import { MadeFiles } from '../../support/builders/made-symbol-files.ts';
import { buildZip, type ZipEntry } from '../../support/builders/zip-builder.ts';

const APK = '/data/app/demo/base.apk';
const NAME = 'lib/arm64-v8a/libnative.so';
const CONTENT = Buffer.from('what the library holds');
const OTHERS: readonly ZipEntry[] = [
  { name: 'AndroidManifest.xml', content: Buffer.from('<manifest/>'.repeat(99)), isCompressed: true },
  { name: 'lib/x86_64/libnative.so', content: Buffer.from('another machine') },
];
const ARCHIVE = buildZip([...OTHERS, { name: NAME, content: CONTENT, padding: 37 }, { name: 'last', content: Buffer.from('end') }]);

let files: MadeFiles;
beforeEach(() => {
  files = new MadeFiles();
});

/** The bytes of a library in an archive; undefined if it cannot be opened. */
async function contentOf(archive: Uint8Array, path = `${APK}!/${NAME}`): Promise<string | undefined> {
  files.content.set(APK, archive);
  const source = await openArchived(files, path);
  const bytes = source && (await readRange(source, 0, 1 << 20));
  await source?.close();
  expect(files.openCount).toBe(0);
  return bytes && Buffer.from(bytes).toString('latin1');
}

describe('a library in an archive', () => {
  it('is the part of the archive that its list leads to', async () => {
    expect(await contentOf(ARCHIVE)).toBe(CONTENT.toString());
    expect(await contentOf(ARCHIVE, `${APK}!/last`)).toBe('end');
    const source = await openArchived(files, `${APK}!/${NAME}`);
    expect([source?.name, source?.sizeBytes]).toEqual([`${APK}!/${NAME}`, CONTENT.length]);
    expect(await readRange(source!, 5, 3)).toEqual(new Uint8Array(CONTENT.subarray(5, 8)));
    expect(await source!.readAt(CONTENT.length, new Uint8Array(4))).toBe(0);
    await source!.close();
  });

  it('is found whatever the comment at the end of the archive says', async () => {
    const comment = `PK\x05\x06${'\0'.repeat(18)}`.repeat(3);
    expect(await contentOf(buildZip([{ name: NAME, content: CONTENT }], `${comment}x`))).toBe(CONTENT.toString());
  });

  it('is none if the archive does not have it, or has it compressed', async () => {
    expect(await contentOf(ARCHIVE, `${APK}!/lib/arm64-v8a/libother.so`)).toBeUndefined();
    expect(await contentOf(buildZip([{ name: NAME, content: CONTENT, isCompressed: true }]))).toBeUndefined();
    expect(await contentOf(new Uint8Array(0))).toBeUndefined();
    expect(await contentOf(ARCHIVE, '/data/app/none.apk!/lib/libnative.so')).toBeUndefined();
    expect(await contentOf(ARCHIVE, APK)).toBeUndefined();
  });

  it('is not looked for in what is no path below the recorded one', async () => {
    await contentOf(ARCHIVE, '/proc/7/mem!/../../../data/app');
    expect(files.asked).toEqual([]);
  });

  it('is none, and nothing is thrown, if the archive is damaged', async () => {
    for (let size = 0; size < ARCHIVE.length; size++) expect(await contentOf(ARCHIVE.subarray(0, size))).toBeUndefined();
    for (let at = 0; at < ARCHIVE.length; at++) {
      const damaged = Buffer.from(ARCHIVE);
      damaged[at] ^= 0xff;
      await contentOf(damaged);
    }
  });
});

it('names functions of libraries that are mapped from an Android package', async () => {
  const elf = buildElf({ classBits: 64, littleEndian: true, buildId: 'aa11', symbols: [{ name: 'busy', value: TEXT.vaddr, sizeBytes: 64 }] });
  files.content.set(`/phone${APK}`, buildZip([...OTHERS, { name: NAME, content: elf }]));
  const symbolizer = new Symbolizer(files, { debugDirs: [], compatPerf: false, symfs: '/phone' }, new Diagnostics());
  const search = new SymbolSearch();
  const object = { name: `${APK}!/${NAME}`, kind: 'file', buildId: 'aa11', osRelease: '' } as const;
  const code = await symbolizer.forRecording({}).symbolsFor(object, { lines: false, search });
  const { table } = code!;
  expect(table!.name(table!.find(TEXT.offset))).toBe('busy');
  expect(search.places.find(({ place }) => place === `/phone${APK}!/${NAME}`)).toMatchObject({ outcome: 'fits' });
  await code?.close?.();
  expect(files.openCount).toBe(0);
});
