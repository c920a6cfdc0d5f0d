import { describe, expect, test } from 'vitest';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { ModuleMemory } from '../../../src/unwind/modules/module-memory.ts';
import { buildSectionElf } from '../../support/builders/elf/section-elf.ts';

const SVMA = 0x10_0000;
const SIZE = 0x1_4000;
/** Where in the segment the first border between reads is, since the header of the file is before the segment. */
const BORDER = 0x4000 - 64;

/** A file with a segment whose bytes tell where in the segment they are, and an equal one that is writable. */
async function openMemory(source?: (bytes: Uint8Array) => BufferSource): Promise<ModuleMemory> {
  const content = Uint8Array.from({ length: SIZE }, (_, i) => (i ^ (i >> 8)) & 0xff);
  const bytes = buildSectionElf({ sections: [{ name: '.text', flags: 6, addr: SVMA, content }] });
  const elf = await ElfFile.open(new BufferSource(bytes));
  const { offset } = elf.section('.text')!;
  const load = { type: 1, flags: 5, offset, vaddr: SVMA, filesz: SIZE, memsz: SIZE + 0x100, align: 1 };
  const withSegments = elf.withSegments([load, { ...load, flags: 6, vaddr: 2 * SVMA }]);
  if (source !== undefined) Object.assign(withSegments, { source: source(bytes) });
  return new ModuleMemory(withSegments, true);
}

async function readAt(memory: ModuleMemory, svma: number, sizeBytes: number): Promise<number[] | string> {
  for (let i = 0; i < 2 && memory.find(svma, sizeBytes) === 'wanted'; i++) await memory.readWanted();
  const match = memory.find(svma, sizeBytes);
  return match === 'found' ? [...memory.view.bytes.subarray(memory.offset, memory.offset + sizeBytes)] : match;
}

function expected(at: number, sizeBytes: number): number[] {
  return Array.from({ length: sizeBytes }, (_, i) => ((at + i) ^ ((at + i) >> 8)) & 0xff);
}

test('bytes of read-only segments are there once they were read, also across the borders between reads', async () => {
  const memory = await openMemory();
  expect([memory.find(SVMA, 8), memory.wantsBytes]).toEqual(['wanted', true]);
  for (let at = 0; at + 8 <= SIZE; at += 0xff5) expect(await readAt(memory, SVMA + at, 8)).toEqual(expected(at, 8));
  // All borders are among these.
  for (let at = 0x3f00; at < 0x4100; at++) expect(await readAt(memory, SVMA + at, 7)).toEqual(expected(at, 7));
  expect(memory.wantsBytes).toBe(false);
});

test('bytes across a border between reads are wanted part by part', async () => {
  const memory = await openMemory();
  const svma = SVMA + BORDER - 3;
  expect(memory.find(svma, 8)).toBe('wanted');
  await memory.readWanted();
  expect([memory.find(svma, 8), memory.wantsBytes]).toEqual(['wanted', true]);
  await memory.readWanted();
  expect(await readAt(memory, svma, 8)).toEqual(expected(BORDER - 3, 8));
});

test('the range of the bytes at hand is known, along with those that were found', async () => {
  const memory = await openMemory();
  for (const [at, start, end] of [
    [0x100, 0, BORDER],
    [BORDER - 8, 0, BORDER],
    [BORDER - 7, BORDER - 7, BORDER + 1],
    [BORDER, BORDER, BORDER + 0x4000],
    [SIZE - 8, SIZE - ((SIZE - BORDER) % 0x4000), SIZE],
  ]) {
    expect(await readAt(memory, SVMA + at, 8)).toEqual(expected(at, 8));
    expect([at, memory.foundStart - SVMA, memory.foundEnd - SVMA]).toEqual([at, start, end]);
    const from = memory.offset - (at - start);
    expect([...memory.view.bytes.subarray(from, from + end - start)]).toEqual(expected(start, end - start));
  }
});

test('bytes of writable segments, and of none, are absent', async () => {
  const memory = await openMemory();
  for (const svma of [2 * SVMA, SVMA - 1, SVMA + SIZE - 7, SVMA + SIZE, 0, -8]) expect(memory.find(svma, 8)).toBe('absent');
  expect(memory.find(SVMA, 9)).toBe('absent');
  expect(new ModuleMemory(undefined, true).find(0, 1)).toBe('absent');
});

test('bytes of a code section are there and executable even in a writable segment', async () => {
  const content = Uint8Array.from({ length: 0x100 }, (_, i) => i);
  const bytes = buildSectionElf({
    sections: [
      { name: '.data', flags: 3, addr: SVMA, content },
      // As in images of GCL: what they held when they were dumped, with their code.
      { name: '.data', flags: 7, addr: SVMA + 0x100, content },
    ],
  });
  const elf = await ElfFile.open(new BufferSource(bytes));
  const { offset } = elf.section('.data')!;
  const load = { type: 1, flags: 6, offset, vaddr: SVMA, filesz: 0x200, memsz: 0x200, align: 1 };
  const memory = new ModuleMemory(elf.withSegments([load]), true);
  expect(await readAt(memory, SVMA + 0x110, 4)).toEqual([0x10, 0x11, 0x12, 0x13]);
  expect(await readAt(memory, SVMA + 0x10, 4)).toBe('absent');
  expect(await readAt(memory, SVMA + 0xfe, 4)).toBe('absent');
  expect([SVMA, SVMA + 0xff, SVMA + 0x100, SVMA + 0x1ff, SVMA + 0x200].map((svma) => memory.isExecutable(svma))).toEqual([false, false, true, true, false]);
});

test('bytes are absent where the file ends before its segment does', async () => {
  const end = 0x2004;
  const first = expected(0, 16);
  const memory = await openMemory((bytes) => {
    const offset = bytes.findIndex((_, at) => first.every((byte, i) => bytes[at + i] === byte));
    return new BufferSource(bytes.subarray(0, offset + end));
  });
  expect(await readAt(memory, SVMA + end - 8, 8)).toEqual(expected(end - 8, 8));
  for (let at = end - 7; at <= end; at++) expect(await readAt(memory, SVMA + at, 8)).toBe('absent');
});

test('code is where segments say so, or anywhere if there are none', async () => {
  const memory = await openMemory();
  expect([SVMA - 1, SVMA, SVMA + SIZE + 0xff, SVMA + SIZE + 0x100, 2 * SVMA].map((svma) => memory.isExecutable(svma))).toEqual([
    false,
    true,
    true,
    false,
    false,
  ]);
  expect(new ModuleMemory(undefined, true).isExecutable(0)).toBe(true);
});

test('bytes that cannot be read are absent from then on, and the reason is returned', async () => {
  class Refusing extends BufferSource {
    override async readAt(): Promise<number> {
      throw new PerfconvError('io', 'gone');
    }
  }
  const memory = await openMemory((bytes) => new Refusing(bytes));
  expect(memory.find(SVMA, 8)).toBe('wanted');
  expect(await memory.readWanted()).toMatchObject({ message: 'gone' });
  expect([memory.find(SVMA, 8), memory.wantsBytes]).toEqual(['absent', false]);
  expect(await memory.readWanted()).toBeUndefined();
});

describe('in a large file', () => {
  const PAGE_BYTES = 1 << 14;
  const PAGES = (1 << 11) + 2;

  /** Pages that begin with their numbers, and the numbers of those that are read. */
  async function openLarge(): Promise<{ wordAt: (page: number) => Promise<number | string>; reads: number[] }> {
    const bytes = new Uint8Array(PAGE_BYTES * PAGES);
    for (let page = 0; page < PAGES; page++) bytes.set([page & 0xff, page >> 8], page * PAGE_BYTES);
    const reads: number[] = [];
    const source = Object.assign(new BufferSource(bytes), {
      readAt: (at: number, target: Uint8Array) => {
        reads.push(at / PAGE_BYTES);
        return BufferSource.prototype.readAt.call(source, at, target);
      },
    });
    const load = { type: 1, flags: 5, offset: 0, vaddr: SVMA, filesz: bytes.length, memsz: bytes.length, align: 1 };
    const elf = (await ElfFile.open(new BufferSource(buildSectionElf({ sections: [] })))).withSegments([load]);
    const memory = new ModuleMemory(Object.assign(elf, { source }), true);
    const wordAt = async (page: number): Promise<number | string> => {
      const word = await readAt(memory, SVMA + page * PAGE_BYTES, 2);
      return typeof word === 'string' ? word : word[0] + 256 * word[1];
    };
    return { wordAt, reads };
  }

  test('what was read first is forgotten, and read again', async () => {
    const { wordAt, reads } = await openLarge();
    const pages = Array.from({ length: PAGES }, (_, page) => page);
    for (const page of pages) expect(await wordAt(page)).toBe(page);
    expect(reads).toEqual(pages);
    for (const page of [2, PAGES - 1, 0, 1, 4]) expect(await wordAt(page)).toBe(page);
    expect(reads.slice(PAGES)).toEqual([0, 1]);
  });

  test('only a limited number of pages is read, even if hostile code goes round in it', async () => {
    const { wordAt, reads } = await openLarge();
    let count = 0;
    while ((await wordAt(count % PAGES)) !== 'absent') count++;
    expect([count, reads.length]).toEqual([1 << 15, 1 << 15]);
    expect(await wordAt((count - 1) % PAGES)).toBe((count - 1) % PAGES);
  });
});
