import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import * as fzstd from 'fzstd';
import { describe, expect, it } from 'vitest';
import { anatomyOf } from '../../fuzz/anatomy/anatomy.ts';
import { dwarfAnatomyOf } from '../../fuzz/anatomy/dwarf-anatomy.ts';
import { elfAnatomyOf, isElf, withSectionBytes } from '../../fuzz/anatomy/elf-anatomy.ts';
import { framePiecesOf } from '../../fuzz/anatomy/frame-anatomy.ts';
import { Campaign } from '../../fuzz/campaign/campaign.ts';
import { signatureOf } from '../../fuzz/campaign/finding.ts';
import { minimize } from '../../fuzz/campaign/minimize.ts';
import { enlarge } from '../../fuzz/mutations/enlarge.ts';
import { Random } from '../../fuzz/random.ts';
import { encodedSeeds } from '../../fuzz/seeds/encoded-seeds.ts';
import { isDirectory, SEED_KINDS, SINGLE_FILE } from '../../fuzz/seeds/seed.ts';
import { HOSTILE_NAMES } from '../../fuzz/seeds/special-recordings.ts';
import { symbolSeeds } from '../../fuzz/seeds/symbol-seeds.ts';
import { unwindSeeds } from '../../fuzz/seeds/unwind-seeds.ts';
import { CommandTimes } from '../../fuzz/target/command-times.ts';
import { commandFault } from '../../fuzz/target/commands.ts';
import { NotedSymbolFiles, SYMFS } from '../../fuzz/target/noted-symbol-files.ts';
import { lineFault } from '../../fuzz/target/output-checks.ts';
import { OutputSink } from '../../fuzz/target/output-sink.ts';
import { repeatingZstdFrame } from '../../fuzz/zstd-frame.ts';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { openStream } from '../../src/host/input/open-input.ts';
import { readProfile } from '../../src/pipeline/read-profile.ts';
import { writeProfile } from '../../src/pipeline/write-profile.ts';
import { Symbolizer } from '../../src/symbolizer/symbolizer.ts';
import { encodeFile, encodePipe, record } from '../support/builders/recordings/perf-encoder.ts';

const attr = { sampleType: ['ip', 'callchain', 'raw'], ids: [1n] } as const;
const sample = record.sample({ ip: 1n, callchain: [2n, 3n], raw: new Uint8Array(4) });

describe("the fuzzer's inputs", () => {
  it('depend only on number and index, not on what came before', () => {
    const trials = (indexes: readonly number[]) => {
      const campaign = new Campaign(7, encodedSeeds(), SEED_KINDS, 16 << 10);
      return new Map(indexes.map((index) => [index, campaign.trial(index)]));
    };
    const [forward, backward] = [trials([0, 1, 2, 3]), trials([3, 2, 1, 0])];
    for (const index of [0, 1, 2, 3]) expect(forward.get(index)).toEqual(backward.get(index));
    expect(forward.get(0)).not.toEqual(forward.get(1));
  });

  it('leave their seeds as they are', () => {
    const seeds = encodedSeeds();
    const campaign = new Campaign(1, seeds, SEED_KINDS, 16 << 10);
    for (let index = 0; index < 300; index++) campaign.trial(index);
    expect(seeds).toEqual(encodedSeeds());
  });

  it('nearly all differ from their seed', () => {
    const seeds = encodedSeeds();
    const campaign = new Campaign(2, seeds, ['file']);
    let same = 0;
    for (let index = 0; index < 300; index++) {
      const { files, seedName } = campaign.trial(index);
      const seed = seeds.find((one) => one.kind === 'file' && one.name === seedName);
      if (Buffer.compare(files.get(SINGLE_FILE)!, seed!.files.get(SINGLE_FILE)!) === 0) same++;
    }
    expect(same).toBeLessThan(30);
  });

  it('of a megabyte repeat records, which are read', async () => {
    const small = encodeFile({ attrs: [attr], records: [sample], features: { hostname: 'host' } });
    const large = enlarge(small, new Random(1, 1));
    expect(large.length).toBeGreaterThan(1_000_000);
    const diagnostics = new Diagnostics();
    const { session } = await readProfile(new BufferSource(large), {}, diagnostics);
    expect(session.counts.total).toBeGreaterThan(10_000);
    expect(session.features.hostname).toBe('host');
  });
});

describe("the fuzzer's grown inputs", () => {
  const grown = encodedSeeds().filter(({ grow }) => grow !== undefined);

  it.each(grown)('are the same for the same numbers, about as large as wanted, and readable: $kind', async ({ kind, grow }) => {
    const wanted = 40_000;
    for (let index = 0; index < 8; index++) {
      const { files, unpackedBytes = 0 } = grow!(new Random(3, index), wanted);
      expect(files).toEqual(grow!(new Random(3, index), wanted).files);
      const bytes = files.get(SINGLE_FILE)!;
      expect(bytes.length).toBeLessThan(4 * wanted + 2048);
      // Mutations change bytes in place, and slices of a Buffer share their bytes.
      expect(Buffer.isBuffer(bytes)).toBe(false);
      const { source } = await openStream(Readable.from([Buffer.from(bytes)]), kind);
      const { session } = await readProfile(source, {}, new Diagnostics());
      expect(session.sampleCount).toBeGreaterThan(0);
      await source.close();
      expect(session.counts.total * 65_536).toBeGreaterThan(unpackedBytes);
    }
  });

  it('unpack to the right content', () => {
    const content = Uint8Array.from({ length: 61 }, (_, i) => i * 7);
    for (const [copies, ratio] of [
      [1, 1],
      [2, 10],
      [1000, 5],
      [5000, 2048],
    ]) {
      expect(Buffer.compare(fzstd.decompress(repeatingZstdFrame(content, copies, ratio)), Buffer.alloc(61 * copies, content))).toBe(0);
    }
  });
});

describe("the fuzzer's commands", () => {
  const files = new Map([[SINGLE_FILE, encodeFile({ attrs: [attr], records: [sample] })]]);
  const faultOf = async (words: readonly string[], isTerminal = false): Promise<string | undefined> => {
    const parent = mkdtempSync(join(tmpdir(), 'perfconv-fuzz-test-'));
    try {
      return await commandFault({ words, isTerminal }, files, join(parent, 'command'));
    } finally {
      rmSync(parent, { recursive: true });
    }
  };

  it('have no fault if they do what they should', async () => {
    expect(await faultOf(['convert', '{input}', '-o', '{folder}/new.pb.gz'])).toBeUndefined();
    expect(await faultOf(['convert', '{input}', '-o', '{input}', '-t', 'pprof'])).toBeUndefined();
    expect(await faultOf(['report', '{input}'], true)).toBeUndefined();
  });

  it('have a fault if they print control characters', () => {
    for (const text of ['\x1b[31m', 'a\rb', '\u009b', '\u202e', '\u2028']) expect(lineFault(text), JSON.stringify(text)).toMatch(/control character/);
    expect(lineFault('two\nlines')).toBeUndefined();
  });
});

describe('the anatomy of a recording', () => {
  it('knows sizes, counts and offsets', () => {
    const bytes = encodeFile({ attrs: [attr], records: [sample], features: { hostname: 'host' } });
    const { form, records, fields, attrs, dataEnd } = anatomyOf(bytes);
    const [{ offset }] = records;
    const has = (at: number, sizeBytes: number): boolean => fields.some((field) => field.offset === at && field.sizeBytes === sizeBytes);
    expect([form, records.length, attrs.length, dataEnd]).toEqual(['file', 1, 1, offset + 8 + 8 + 8 + 16 + 8]);
    expect(has(16, 8), 'attr_size').toBe(true);
    expect(has(attrs[0] + 4, 4), 'size of the attr').toBe(true);
    expect(has(attrs[0] + 128, 8) && has(attrs[0] + 136, 8), "the ids' section").toBe(true);
    expect(has(offset + 6, 2), 'size of the record').toBe(true);
    expect(has(offset + 16, 8), 'nr of the callchain').toBe(true);
    expect(has(offset + 40, 4), 'size of the raw data').toBe(true);
    expect(has(dataEnd, 8) && has(dataEnd + 8, 8), 'section of the feature').toBe(true);
    expect(has(dataEnd + 16, 4), 'length of its text').toBe(true);
  });

  it('finds every record of a pipe, in both byte orders', () => {
    for (const byteOrder of ['little', 'big'] as const) {
      const { form, records, attrs } = anatomyOf(encodePipe({ byteOrder, attrs: [attr], records: [sample, sample] }));
      expect([form, records.map(({ type }) => type), attrs.length]).toEqual(['pipe', [64, 9, 9], 1]);
    }
  });

  it.each(encodedSeeds().filter(({ kind, files }) => !isDirectory(files) && !['wrapped', 'bombs'].includes(kind)))(
    '$kind $name has records and fields',
    ({ files }) => {
      const { records, fields } = anatomyOf(files.get(SINGLE_FILE)!);
      expect(records.length).toBeGreaterThan(2);
      expect(fields.length).toBeGreaterThan(10);
    },
  );
});

describe('the anatomy of a symbol file', () => {
  const debugFiles = symbolSeeds().flatMap(({ files }) => [...files].filter(([, bytes]) => isElf(bytes)));

  it.each(debugFiles)('has sections, and numbers in them: %s', (_, bytes) => {
    const elf = elfAnatomyOf(bytes);
    expect(elf.sections.length).toBeGreaterThan(3);
    expect(elf.headerFields.length).toBeGreaterThan(50);
    expect(dwarfAnatomyOf(elf).places.length).toBeGreaterThan(4);
  });

  it('knows every unit and the DIEs of all its parts', () => {
    for (const name of ['gcc2', 'gcc4', 'gcc5', 'gcc5-sections', 'clang5', 'rust', 'mips', 'ppc64']) {
      const elf = elfAnatomyOf(new Map(debugFiles).get(name)!);
      const { units, dies } = dwarfAnatomyOf(elf);
      const info = elf.sections.find((section) => section.name === '.debug_info')!;
      const own = units.filter(({ section }) => section.name === '.debug_info');
      expect(own.at(-1)!.end, name).toBe(info.end);
      // Only the ends of lists of children follow.
      const last = own.at(-1)!;
      expect(dies.at(-1)! - last.start, name).toBeGreaterThan((last.end - last.start) * 0.9);
    }
  });

  it('knows every instruction of call frame information', () => {
    for (const name of ['x86_64-eh_frame', 'x86_64-debug_frame', 'i686-eh_frame', 'aarch64-debug_frame', 's390x-eh_frame', 'gcc', 'recorded']) {
      const [, bytes] = [...unwindSeeds().find((seed) => seed.name === name)!.files][1];
      const elf = elfAnatomyOf(bytes);
      const section = elf.sections.find((one) => /^\.(?:eh|debug)_frame$/.test(one.name))!;
      const pieces = framePiecesOf(elf);
      const last = pieces.at(-1)!;
      // A terminator may follow the last entry.
      expect(section.end - last.offset - last.sizeBytes, name).toBeLessThanOrEqual(4);
      const instructions = pieces.filter(({ kind }) => kind === 'instruction');
      expect(
        instructions.every(({ offset }) => bytes[offset] >= 0x40 || bytes[offset] <= 0x16),
        name,
      ).toBe(true);
      // Each CIE begins with DW_CFA_def_cfa.
      for (const { offset, sizeBytes } of pieces.filter(({ kind }) => kind === 'letters')) {
        expect(bytes[instructions.find((one) => one.offset > offset + sizeBytes)!.offset], name).toBe(0x0c);
      }
    }
  });

  it('stays right when a section gets other bytes', () => {
    const bytes = new Map(debugFiles).get('mips')!;
    const before = elfAnatomyOf(bytes);
    const section = before.sections.find(({ name }) => name === '.debug_line')!;
    const after = elfAnatomyOf(withSectionBytes(bytes, before, section, Uint8Array.of(1, 2, 3)));
    const { start, end } = after.sections[section.index];
    expect([...after.view.bytes.subarray(start, end)]).toEqual([1, 2, 3]);
  });
});

it.each(symbolSeeds())('all code of $name is named before anything is mutated', async ({ files }) => {
  const machine = new NotedSymbolFiles((path) => files.get(path.slice(path.lastIndexOf('/') + 1)));
  const diagnostics = new Diagnostics();
  const symbolizer = new Symbolizer(machine, { symfs: SYMFS, debugDirs: [], compatPerf: false }, diagnostics);
  const { profile } = await readProfile(new BufferSource(files.get(SINGLE_FILE)!), { symbolizer }, diagnostics);
  const { locations } = profile;
  const named = Array.from({ length: locations.size }, (_, i) => locations.lineCount(i)).filter((count) => count > 0).length;
  expect(locations.size).toBeGreaterThan(150);
  expect(named / locations.size).toBeGreaterThan(0.7);
});

describe("the fuzzer's findings", () => {
  it('have the same signature if they have the same cause', () => {
    const at = (line: number): string => `\n    at readX (/a/src/x.ts:${line}:1)\n    at async readY (/a/src/y.ts:1:1)`;
    expect(signatureOf(`RangeError: offset 17 "a"${at(5)}`)).toBe(signatureOf(`RangeError: offset 4096 "b"${at(6)}`));
    expect(signatureOf(`RangeError: offset 17${at(5)}`)).not.toBe(signatureOf(`TypeError: offset 17${at(5)}`));
  });

  it('become smaller as long as they fail', async () => {
    const bytes = new Uint8Array(1000).fill(7);
    bytes[500] = 42;
    const smallest = await minimize(
      new Map([
        ['a', bytes],
        ['b', bytes],
      ]),
      async (files) => files.get('b')?.includes(42) ?? false,
      10_000,
    );
    expect([...smallest]).toEqual([['b', Uint8Array.of(42)]]);
  });
});

it('names that are keys of every object are treated as data', async () => {
  for (const { files } of encodedSeeds().filter(({ kind }) => kind === 'names')) {
    const diagnostics = new Diagnostics();
    const { profile } = await readProfile(new BufferSource(files.get(SINGLE_FILE)!), { keepSamples: true }, diagnostics);
    const named = HOSTILE_NAMES.filter((name) => name !== '');
    expect(profile.events.map((event) => event.name)).toEqual(expect.arrayContaining(named));
    expect(profile.tasks.map((task) => task.comm)).toEqual(expect.arrayContaining(named.map((name) => name.slice(0, 15))));
    for (const format of ['speedscope', 'chrome', 'pprof', 'script'] as const) {
      const sink = new BufferSink();
      await writeProfile(format, profile, sink, {}, diagnostics);
      for (const name of named) expect(sink.text(), format).toContain(name.slice(0, 15));
    }
  }
});

describe("the fuzzer's outputs", () => {
  it('are held as they were written', async () => {
    const sink = new OutputSink();
    await sink.write(Uint8Array.of(1, 2));
    await sink.write(Uint8Array.of(3));
    expect(sink.bytes()).toEqual(Buffer.of(1, 2, 3));
  });

  it('take limited memory, whatever their size', async () => {
    const sink = new OutputSink();
    const piece = new Uint8Array(1 << 20);
    for (let i = 0; i < 32; i++) await sink.write(piece);
    expect(sink.isTooLarge).toBe(false);
    await sink.write(Uint8Array.of(1));
    expect(sink.bytes()).toBeUndefined();
  });
});

describe('the time of a command', () => {
  const work = async (ms: number): Promise<void> => {
    const start = process.cpuUsage();
    for (let spent = 0; spent < ms * 1000; ) {
      const { user, system } = process.cpuUsage(start);
      spent = user + system;
    }
  };

  it('is that of reading plus one output', async () => {
    const times = new CommandTimes();
    await times.reading(() => work(20));
    expect(times.slowestMs).toBeGreaterThanOrEqual(20);
    await times.rest(() => work(30));
    expect(times.slowestMs).toBeGreaterThanOrEqual(50);
    await times.whole(() => work(80));
    expect(times.slowestMs).toBeGreaterThanOrEqual(80);
  });

  it('is kept when the command fails', async () => {
    const times = new CommandTimes();
    const failed = times.whole(async () => {
      await work(10);
      throw new RangeError('failed');
    });
    await expect(failed).rejects.toThrow('failed');
    expect(times.slowestMs).toBeGreaterThanOrEqual(10);
  });
});
