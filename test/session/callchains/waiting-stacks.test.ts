import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { type ReadProfileOptions, readProfile } from '../../../src/pipeline/read-profile.ts';
import { Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import { buildElf, TEXT } from '../../support/builders/elf/elf-builder.ts';
import { MadeFiles } from '../../support/builders/made-symbol-files.ts';
import { compressedRecords } from '../../support/builders/recordings/compressed-records.ts';
import { APP, decodeAll, FEATURES, LIBRARY, MAIN, mapped, sample, shown, start } from '../../support/builders/recordings/dumped-recording.ts';
import { DUMPING, dumpedStack } from '../../support/builders/recordings/dumped-stack.ts';
import { splitRecord } from '../../support/builders/recordings/perf-encoder/simpleperf.ts';
import { encodeFile, encodePipe, encodeRecord, type RecordSpec, record, toolRecords } from '../../support/builders/recordings/perf-encoder.ts';
import { decode } from '../../support/readers/decode.ts';

describe('unwinding a recording', () => {
  /** One library per sample, mapped just before it, so that each sample has to wait for two files. */
  function manyFiles(count: number): RecordSpec[] {
    const records: RecordSpec[] = [mapped(1n, 0x400000n, APP)];
    for (let i = 0; i < count; i++) {
      const at = 0x500000n + BigInt(i) * 0x10000n;
      records.push(mapped(BigInt(10 + i * 2), at, `/lib/${i}.so`), sample(BigInt(11 + i * 2), [at + 0x10n, MAIN + BigInt(i)]));
    }
    return records;
  }
  const COUNT = 12;
  const records = manyFiles(COUNT);
  const expected = Array.from({ length: COUNT }, (_, i) => `${11 + i * 2}: 10 ${(0x100 + i).toString(16)}`);
  const files = (): ReadProfileOptions => {
    const here = new MadeFiles();
    const slow: typeof here.open = async (path) => {
      await new Promise((done) => setTimeout(done, 0));
      return MadeFiles.prototype.open.call(here, path);
    };
    here.open = slow;
    return { symbolizer: new Symbolizer(here, { debugDirs: [], compatPerf: false }, new Diagnostics()) };
  };
  const rounds = records.flatMap((each, i) => (i % 3 === 2 ? [each, toolRecords.finishedRound()] : [each]));

  test.each<[string, Uint8Array]>([
    ['without rounds', encodeFile({ attrs: [DUMPING], records, features: FEATURES })],
    ['with rounds', encodeFile({ attrs: [DUMPING], records: rounds, features: FEATURES })],
    ['through a pipe', encodePipe({ attrs: [DUMPING], records: rounds, features: FEATURES })],
    ['compressed', encodeFile({ attrs: [DUMPING], records: compressedRecords(records, [DUMPING], 'COMPRESSED', 700), features: FEATURES })],
    ['compressed with its rounds', encodeFile({ attrs: [DUMPING], records: compressedRecords(rounds, [DUMPING], 'COMPRESSED2', 60_000), features: FEATURES })],
    ['in pieces', encodeFile({ attrs: [DUMPING], records: records.flatMap((each) => splitRecord(each, [DUMPING], 100)), features: FEATURES })],
  ])('keeps samples in time order while they wait for files: %s', async (_, bytes) => {
    expect(shown((await decode(bytes, files())).samples)).toEqual(expected);
  });

  it('keeps samples in time order while they wait for files: in several files', async () => {
    const part = (rest: number) => Buffer.concat(records.filter((_, i) => i % 3 === rest).map((each) => encodeRecord(each, [DUMPING])));
    const source = Object.assign(new BufferSource(encodeFile({ attrs: [DUMPING], records: [], features: FEATURES }), 'data'), {
      parts: [0, 1, 2].map((rest) => new BufferSource(part(rest), `data.${rest}`)),
    });
    const { profile } = await readProfile(source, { keepSamples: true, ...files() }, new Diagnostics());
    const times = Array.from({ length: profile.samples?.size ?? 0 }, (_, row) => Number(profile.meta.startTime) + (profile.samples?.timeNs[row] ?? 0));
    expect(times).toEqual(Array.from({ length: COUNT }, (_, i) => 11 + i * 2));
  });

  it.each([
    ['in plain records', records],
    ['in compressed records', compressedRecords(records, [{ ...DUMPING, sampleType: DUMPING.sampleType.filter((bit) => bit !== 'time') }], 'COMPRESSED', 5000)],
    ['in pieces', records.flatMap((each) => splitRecord(each, [{ ...DUMPING, sampleType: DUMPING.sampleType.filter((bit) => bit !== 'time') }], 100))],
  ])('keeps samples without times in file order while they wait, %s', async (_, all) => {
    const timeless = { ...DUMPING, sampleType: DUMPING.sampleType.filter((bit) => bit !== 'time') };
    const { samples } = await decodeAll(all, files(), timeless);
    expect(shown(samples)).toEqual(expected.map((line) => line.replace(/^\d+/, 'undefined')));
  });

  it('keeps samples in file order while they wait if only they have times', async () => {
    const { samples } = await decodeAll([...records.slice(0, 5), sample(3n, [0x500020n, MAIN])], files(), { ...DUMPING, flags: [] });
    expect(shown(samples)).toEqual([...expected.slice(0, 2), '3: 20 100']);
  });

  it('opens each file once for its rules, and closes it', async () => {
    const here = new MadeFiles();
    here.content.set(APP, buildElf({ classBits: 64, littleEndian: true }));
    let mostOpen = 0;
    const { open } = here;
    here.open = async (path) => {
      mostOpen = Math.max(mostOpen, here.openCount);
      return open.call(here, path);
    };
    const symbolizer = new Symbolizer(here, { debugDirs: [], compatPerf: false }, new Diagnostics());
    await decodeAll([...start(), ...Array.from({ length: 50 }, (_, i) => sample(BigInt(10 + i), [0x500010n, MAIN]))], { symbolizer, debugInfo: 'none' });
    // The second time is for its names.
    expect(here.asked.filter((path) => path === APP)).toHaveLength(2);
    expect(here.openCount).toBe(0);
  });

  it('reports code that cannot be read', async () => {
    const here = new MadeFiles();
    here.content.set(APP, buildElf({ classBits: 64, littleEndian: true }));
    const { open } = here;
    here.open = async (path) => {
      const source = await open.call(here, path);
      if (source === undefined) return undefined;
      const { readAt } = source;
      source.readAt = async (position, target) => {
        const readsCode = position < TEXT.offset + TEXT.sizeBytes && position + target.length > TEXT.offset;
        if (readsCode) throw new PerfconvError('io', 'was replaced while it was being read', { file: path });
        return readAt.call(source, position, target);
      };
      return source;
    };
    const symbolizer = new Symbolizer(here, { debugDirs: [], compatPerf: false }, new Diagnostics());
    const map = record.mmap2({ pid: 100, addr: 0x401000n, len: 0x1000n, pgoff: BigInt(TEXT.offset), filename: APP }, { sampleId: { time: 1n } });
    const { samples, diagnostics } = await decodeAll([map, sample(10n, [0x401010n, 0x401020n])], { symbolizer, debugInfo: 'none' });
    expect(shown(samples)).toEqual(['10: 1010 1020']);
    const damage = diagnostics.list().find(({ code }) => code === 'unwind-rules-damaged');
    expect(damage?.message).toBe(`${APP}: was replaced while it was being read: stacks that lead there may end too early`);
  });

  it('opens the file that is missing, even if others were looked at since', async () => {
    const here = new MadeFiles();
    const other = '/lib/libother.so';
    const [sp, inOther, inLibrary] = [0x7ffd_0000_1000n, 0x600010n, 0x500020n];
    // The top of the stack leads to one file, the frame pointer to another.
    const words = new BigUint64Array([inOther, sp + 24n, inLibrary, 0n, 0n, 0n]);
    const stack = { data: new Uint8Array(words.buffer), dynSize: BigInt(words.byteLength) };
    const records = [
      ...start(),
      mapped(3n, 0x600000n, other),
      sample(10n, [0x500010n], { regsUser: { abi: 2, regs: [sp + 8n, sp, 0x500010n] }, stackUser: stack }),
    ];
    const symbolizer = new Symbolizer(here, { debugDirs: [], compatPerf: false }, new Diagnostics());
    const { samples } = await decodeAll(records, { symbolizer, debugInfo: 'none' });
    expect(shown(samples)).toEqual(['10: 10 20']);
    // Once for its rules, once for its names.
    expect([LIBRARY, other].map((name) => here.asked.filter((path) => path === name).length)).toEqual([2, 1]);
  });

  it('keeps what comes before the end of a truncated recording', async () => {
    const whole = encodeFile({ attrs: [DUMPING], records, features: FEATURES });
    const dataStart = Number(new DataView(whole.buffer).getBigUint64(40, true));
    let end = dataStart;
    const ends = records.map((each) => {
      end += encodeRecord(each, [DUMPING]).length;
      return end;
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: dataStart, max: whole.length - 1 }), async (cut) => {
        const { samples } = await decode(whole.slice(0, cut));
        // After the map of the program, each sample follows the map of its library.
        const wholeRecords = ends.filter((recordEnd) => recordEnd <= cut).length;
        expect(shown(samples)).toEqual(expected.slice(0, Math.max(0, Math.floor((wholeRecords - 1) / 2))));
      }),
      { numRuns: 40 },
    );
  });

  it('reads as much of a dump as the kernel says, but no more than the record has', async () => {
    const ips = [0x500010n, 0x500020n, MAIN];
    const { stackUser, ...rest } = dumpedStack(ips);
    const data = stackUser?.data ?? new Uint8Array();
    const { samples, session } = await decodeAll([
      ...start(),
      sample(10n, ips, { ...rest, stackUser: { data, dynSize: 16n } }),
      sample(11n, ips, { ...rest, stackUser: { data, dynSize: 0n } }),
      sample(12n, ips, { ...rest, stackUser: { data, dynSize: 1n << 60n } }),
    ]);
    expect(shown(samples)).toEqual(['10: 10 20 [0]', '11: 10 [0]', '12: 10 20 100']);
    // Less was dumped than asked for because there was no more: larger dumps would not help.
    expect(session.unwindEnds).toMatchObject({ complete: 1, truncated: 0, outOfReach: 1, withoutDump: 1 });
  });
});
