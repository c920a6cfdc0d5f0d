import { beforeAll, describe, expect, it } from 'vitest';
import { ByteView } from '../../src/base/bytes/byte-view.ts';
import { readFile2Feature, readFileFeature, type SimpleperfFile } from '../../src/simpleperf/files.ts';
import { loadProtobuf } from '../../src/simpleperf/protobuf-reader.ts';
import { dsoType, type SimpleperfFileSpec, simpleperfFeatures } from '../support/builders/recordings/perf-encoder.ts';

const files: SimpleperfFileSpec[] = [
  {
    path: '/system/lib64/libc.so',
    type: dsoType.elf,
    minVaddr: 0x3b000n,
    offsetOfMinVaddr: 0x3a000n,
    symbols: [
      { vaddr: 0x48590n, len: 0x30, name: 'syscall' },
      { vaddr: 0x4d4b0n, len: 0x48, name: '_ZL15__pthread_startPv' },
    ],
  },
  { path: '[kernel.kallsyms]', type: dsoType.kernel, symbols: [{ vaddr: 0xffffff82a2e816e8n, len: 0x148, name: 'do_mem_abort' }] },
  { path: '/vendor/lib/modules/wlan.ko', type: dsoType.kernelModule, minVaddr: 0x10n, offsetOfMinVaddr: 0x40n, symbols: [] },
  { path: '/system/framework/framework.jar', type: dsoType.dex, dexFileOffsets: [44n, 9049264n], symbols: [{ vaddr: 0x17d450n, len: 0x74, name: 'a.b.run' }] },
  { path: 'perf-12.map', type: dsoType.symbolMap, symbols: [{ vaddr: 0x7000n, len: 1, name: 'jitted' }] },
];

interface PlainFile {
  readonly path: string;
  readonly type: number;
  readonly minVaddr: number;
  readonly offset: number;
  readonly dex: readonly number[];
  readonly symbols: readonly (readonly [start: number, size: number, name: string])[];
}

function plain({ path, type, minVaddr, offsetOfMinVaddr, dexFileOffsets, symbols }: SimpleperfFile): PlainFile {
  const { starts, sizes, nameOffsets, nameLengths, names } = symbols;
  const nameOf = (i: number): string => new TextDecoder().decode(names.subarray(nameOffsets[i], nameOffsets[i] + nameLengths[i]));
  return { path, type, minVaddr, offset: offsetOfMinVaddr, dex: dexFileOffsets, symbols: starts.map((start, i) => [start, sizes[i], nameOf(i)]) };
}

function expectedOf(file: SimpleperfFileSpec): PlainFile {
  return {
    path: file.path,
    type: file.type,
    minVaddr: Number(file.minVaddr ?? 0n),
    offset: Number(file.offsetOfMinVaddr ?? -1n),
    dex: (file.dexFileOffsets ?? []).map(Number),
    symbols: (file.symbols ?? []).map(({ vaddr, len, name }) => [Number(BigInt.asIntN(64, vaddr)), len, name]),
  };
}

beforeAll(loadProtobuf);

const formats = [
  ['FILE', readFileFeature, simpleperfFeatures.file],
  ['FILE2', readFile2Feature, simpleperfFeatures.file2],
] as const;

describe.each(formats)('%s', (_, read, encode) => {
  const readAll = (bytes: Uint8Array): PlainFile[] => {
    const target: SimpleperfFile[] = [];
    read(new ByteView(bytes, true), target);
    return target.map(plain);
  };

  it('holds binaries of every kind with their symbols', () => {
    expect(readAll(encode(files).bytes)).toEqual(files.map(expectedOf));
  });

  it('keeps what comes before the place where it is cut off', () => {
    const { bytes } = encode(files);
    for (let length = 0; length < bytes.length; length++) {
      const target: SimpleperfFile[] = [];
      try {
        read(new ByteView(bytes.subarray(0, length), true), target);
      } catch (error) {
        expect(error).toMatchObject({ name: 'PerfconvError', code: 'damaged' });
      }
      expect(target.map(plain)).toEqual(files.slice(0, target.length).map(expectedOf));
    }
  });

  it('throws nothing but the error for damage, whatever byte is overwritten', () => {
    const { bytes } = encode(files);
    for (let at = 0; at < bytes.length; at++) {
      for (const value of [0, 0xff, 0x80, bytes[at] ^ 0x10]) {
        const damaged = bytes.slice();
        damaged[at] = value;
        try {
          read(new ByteView(damaged, true), []);
        } catch (error) {
          expect(error).toMatchObject({ name: 'PerfconvError', code: 'damaged' });
        }
      }
    }
  });
});

it('lists no more binaries than recordings have: each takes many times its smallest size in the file', () => {
  const limit = 1 << 16;
  // Empty messages.
  const many = new Uint8Array((limit + 1) * 4);
  const target: SimpleperfFile[] = [];
  expect(() => readFile2Feature(new ByteView(many, true), target)).toThrow(expect.objectContaining({ code: 'damaged' }));
  expect(target).toHaveLength(limit);
  // An empty path, type 0, no symbols.
  const structs = new Uint8Array((limit + 1) * 21);
  for (let at = 0; at < structs.length; at += 21) structs[at] = 17;
  target.length = 0;
  expect(() => readFileFeature(new ByteView(structs, true), target)).toThrow(expect.objectContaining({ code: 'damaged' }));
  expect(target).toHaveLength(limit);
});

it('FILE of old recordings does not tell where min_vaddr is in the file', () => {
  const target: SimpleperfFile[] = [];
  readFileFeature(new ByteView(simpleperfFeatures.file([{ path: '/lib/a.so', type: dsoType.elf, minVaddr: 0x1000n }]).bytes, true), target);
  expect(target.map(plain)).toEqual([{ path: '/lib/a.so', type: dsoType.elf, minVaddr: 0x1000, offset: -1, dex: [], symbols: [] }]);
});

it('FILE2 leaves out zeros, but an offset of 0 is known all the same', () => {
  const target: SimpleperfFile[] = [];
  readFile2Feature(new ByteView(simpleperfFeatures.file2([{ path: '/lib/a.so', type: dsoType.elf, offsetOfMinVaddr: 0n }]).bytes, true), target);
  expect(target.map(({ offsetOfMinVaddr }) => offsetOfMinVaddr)).toEqual([0]);
});
