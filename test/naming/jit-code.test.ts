import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { type ReadProfileOptions, readProfile } from '../../src/pipeline/read-profile.ts';
import type { SearchedPlace } from '../../src/symbolizer/inputs/search-log.ts';
import { blockingSource, encodeJitDump, type JitRecordSpec } from '../support/builders/recordings/jitdump-encoder.ts';
import { type AttrSpec, encodeFile, misc, type RecordSpec, record } from '../support/builders/recordings/perf-encoder.ts';
import { whenThorough } from '../support/thoroughness.ts';

const PATH = '/tmp/jit-12.dump';
const JIT = 0x7f00_0000_0000n;
const MONO: Partial<AttrSpec> = { flags: ['sampleIdAll', 'useClockid', 'commExec'], clockid: 1 };

interface Reading extends Partial<ReadProfileOptions> {
  /** The dump's records; undefined if there is no dump. */
  readonly dump?: readonly JitRecordSpec[] | Uint8Array;
  readonly attr?: Partial<AttrSpec>;
}

/** The functions (with lines) and DSOs of all samples, in time order; leaf first. */
async function read(records: readonly RecordSpec[], { dump, attr = MONO, ...options }: Reading) {
  const diagnostics = new Diagnostics();
  const asked: string[] = [];
  const attrs = [{ name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time'], ...attr } as AttrSpec];
  const bytes = dump && (dump instanceof Uint8Array ? dump : encodeJitDump({ records: dump as readonly JitRecordSpec[] }));
  const source = bytes && blockingSource(bytes);
  const openJitDump = (path: string, pid: number) => {
    asked.push(`${path} ${pid}`);
    return source;
  };
  let places: readonly SearchedPlace[] = [];
  const { profile } = await readProfile(
    new BufferSource(encodeFile({ attrs, records: [...records] }), 'perf.data'),
    {
      keepSamples: true,
      openJitDump,
      onSymbols: (symbols) => {
        places = symbols.find(({ name }) => name === PATH)?.places ?? [];
      },
      ...options,
    },
    diagnostics,
  );
  const { samples, stacks, locations, functions, mappings, strings } = profile;
  const frameAt = (location: number): string => {
    const mapping = locations.mapping(location);
    const isNamed = locations.lineCount(location) > 0;
    const func = isNamed ? locations.lineFunction(location, 0) : -1;
    const line = isNamed ? locations.lineNumber(location, 0) : 0;
    const name = func < 0 ? '?' : strings.get(functions.name(func));
    return `${name}${line > 0 ? `:${line}` : ''} ${mapping < 0 ? '-' : mappings[mapping].name}`;
  };
  const frames = Array.from({ length: samples!.size }, (_, row) => {
    const chain: string[] = [];
    for (let stack = samples!.stack[row]; stack >= 0; stack = stacks.parent(stack)) chain.push(frameAt(stacks.location(stack)));
    return chain.join(' < ');
  });
  if (source !== undefined) expect(source.isOpen).toBe(asked.length === 0);
  return { frames, asked, places, problems: diagnostics.list().map(({ code }) => code), messages: diagnostics.list().map(({ message }) => message) };
}

/** The map with which a JIT announces its dump. */
const marker = (time: bigint, pid = 12, filename = PATH): RecordSpec =>
  record.mmap2({ pid, tid: pid, addr: 0x7e00_0000_0000n, len: 0x1000n, filename, ino: 5n }, { sampleId: { time, pid, tid: pid } });
const memory = (time: bigint, pid = 12): RecordSpec =>
  record.mmap2({ pid, tid: pid, addr: JIT, len: 0x10000n, filename: '//anon', prot: 7 }, { sampleId: { time, pid, tid: pid } });
const sample = (time: bigint, ip = JIT + 0x104n, pid = 12): RecordSpec => record.sample({ ip, pid, tid: pid, time }, { misc: misc.user });

const LOADS: readonly JitRecordSpec[] = [
  { load: 'first', at: JIT + 0x100n, code: 64, index: 1n, time: 20n },
  { load: 'second', at: JIT + 0x100n, code: 32, index: 2n, time: 40n },
  { move: 1n, to: JIT + 0x200n, time: 60n },
];

describe('code of JITs', () => {
  it('has its name at the time of the sample', async () => {
    const records = [marker(10n), memory(11n), sample(15n), sample(20n), sample(39n), sample(40n), sample(45n, JIT + 0x13fn), sample(59n, JIT + 0x23fn)];
    const { frames, places, problems } = await read([...records, sample(60n, JIT + 0x23fn), sample(61n, JIT + 0x240n)], { dump: LOADS });
    const [jit, dump] = ['/tmp/perf-12.map', PATH];
    const names = ['?', 'first', 'first', 'second', 'first', '?', 'first', '?'];
    expect(frames).toEqual(names.map((name) => `${name} ${name === '?' ? jit : dump}`));
    expect(places).toMatchObject([{ place: PATH, outcome: 'fits', uses: ['symbols'] }]);
    expect(problems).toEqual([]);
  });

  it('is returned to after calls, or at its start', async () => {
    const callers = [JIT + 0x1040n, JIT + 0x1080n, JIT + 0x10c0n, JIT + 0x2000n];
    const dump: JitRecordSpec[] = [
      { load: 'before', at: JIT + 0x1000n, code: 0x80, index: 1n, time: 20n },
      { load: 'behind', at: JIT + 0x1080n, code: 0x20, index: 2n, time: 20n },
      { load: 'apart', at: JIT + 0x10c0n, code: 0x1000, index: 3n, time: 20n },
    ];
    const leaf = JIT + 0x1004n;
    const chain = record.sample({ ip: leaf, pid: 12, tid: 12, time: 30n, callchain: [0xffff_ffff_ffff_fe00n, leaf, ...callers] }, { misc: misc.user });
    const { frames } = await read([marker(10n), memory(11n), chain], { dump, attr: { ...MONO, sampleType: ['ip', 'tid', 'time', 'callchain'] } });
    expect(frames).toEqual([['before', 'before', 'behind', 'apart', 'apart'].map((name) => `${name} ${PATH}`).join(' < ')]);
  });

  it('is loaded in time order, whatever the order of the dump', async () => {
    const { frames } = await read([marker(10n), sample(30n), sample(50n)], { dump: [LOADS[1], LOADS[0]] });
    expect(frames).toEqual([`first ${PATH}`, `second ${PATH}`]);
  });

  it('covers memory that was mapped before, and stays if that is recorded again', async () => {
    const before = [record.mmap2({ pid: 12, tid: 12, addr: 0x7e00_0000_0000n, len: 0x1000n, filename: PATH }, {}), memory(0n)];
    const { frames } = await read([...before, sample(100n), memory(101n), sample(102n)], { dump: LOADS });
    expect(frames).toEqual([`second ${PATH}`, `second ${PATH}`]);
  });

  it('is gone after exec or if a file is mapped there, but is inherited', async () => {
    const library = record.mmap2({ pid: 12, tid: 12, addr: JIT, len: 0x1000n, filename: '/lib/x.so' }, { sampleId: { time: 75n, pid: 12, tid: 12 } });
    const fork = record.fork({ pid: 13, ppid: 12, tid: 13, ptid: 12, time: 70n }, { sampleId: { time: 70n, pid: 12, tid: 12 } });
    const exec = record.comm({ pid: 13, tid: 13, comm: 'x', exec: true }, { sampleId: { time: 90n, pid: 13, tid: 13 } });
    const records = [
      marker(10n),
      fork,
      sample(71n, JIT + 0x104n, 13),
      library,
      sample(76n),
      sample(77n, JIT + 0x104n, 13),
      exec,
      sample(91n, JIT + 0x104n, 13),
    ];
    expect((await read(records, { dump: LOADS })).frames).toEqual([`second ${PATH}`, '? /lib/x.so', `second ${PATH}`, '? -']);
  });

  it.each<[string, Partial<AttrSpec>, bigint]>([
    ["the recording's clock is different", { flags: ['sampleIdAll'] }, 0n],
    ['the clock of the dump is different', MONO, 1n],
  ])('is there from the start if %s', async (_, attr, flags) => {
    const dump = encodeJitDump({ records: LOADS, flags });
    const { frames, problems } = await read([marker(10n), memory(11n), sample(12n), sample(13n, JIT + 0x13fn), sample(14n, JIT + 0x200n)], { dump, attr });
    expect(frames).toEqual([`second ${PATH}`, `first ${PATH}`, `first ${PATH}`]);
    expect(problems).toEqual(['jitdump-clock']);
  });

  it('has lines if the JIT tells them and they are wanted', async () => {
    const dump: JitRecordSpec[] = [
      {
        debug: JIT + 0x100n,
        lines: [
          [JIT + 0x102n, 11, 0, 'a.py'],
          [JIT + 0x105n, 12, 0, 'b.py'],
        ],
      },
      { load: 'f', at: JIT + 0x100n, code: 16, time: 20n },
      { load: 'g', at: JIT + 0x110n, code: 16, time: 20n },
    ];
    const records = [marker(10n), ...[0x100n, 0x102n, 0x104n, 0x105n, 0x10fn, 0x110n].map((at, i) => sample(30n + BigInt(i), JIT + at))];
    const names = ['f', 'f:11', 'f:11', 'f:12', 'f:12', 'g'];
    expect((await read(records, { dump })).frames).toEqual(names.map((name) => `${name} ${PATH}`));
    expect((await read(records, { dump, debugInfo: 'none' })).frames).toEqual(names.map((name) => `${name[0]} ${PATH}`));
  });

  it('is not mixed up between processes', async () => {
    const { frames, asked } = await read([marker(10n), marker(11n, 14), sample(50n, JIT + 0x104n, 13), sample(51n, JIT + 0x104n, 14)], { dump: LOADS });
    expect(frames).toEqual(['? -', `second ${PATH}`]);
    expect(asked).toEqual([`${PATH} 12`]);
  });

  it('is asked for only by the name of a dump that is mapped as code', async () => {
    const names = [
      '/tmp/jit-12.dump.gz',
      '/tmp/jit-1-2-12.dump',
      '/tmp/jit--12.dump',
      '/tmp/jit-x.dump',
      '/tmp/my-jit-12.dump',
      'jit-12.dump',
      '//anon',
      '/tmp/jit-.dump',
    ];
    const data = record.mmap2({ pid: 12, tid: 12, addr: 0x1000n, len: 0x1000n, filename: PATH, prot: 3 }, { sampleId: { time: 10n, pid: 12, tid: 12 } });
    const { asked } = await read([...names.map((name) => marker(10n, 12, name)), data, sample(30n)], { dump: LOADS });
    expect(asked).toEqual([]);
    const { frames, asked: askedOnce } = await read([marker(10n), marker(12n), sample(30n)], { dump: LOADS });
    expect([frames, askedOnce]).toEqual([[`first ${PATH}`], [`${PATH} 12`]]);
  });

  it('is found in dumps of JavaScriptCore, whose names have a tid before the pid', async () => {
    const path = '/tmp/jit-15-12.dump';
    const { frames, asked } = await read([marker(10n, 12, path), sample(30n)], { dump: LOADS });
    expect([frames, asked]).toEqual([[`first ${path}`], [`${path} 12`]]);
  });

  it('is not looked for with compatPerf', async () => {
    const { asked, frames } = await read([marker(10n), memory(11n), sample(30n)], { dump: LOADS, compatPerf: true });
    expect([asked, frames]).toEqual([[], ['? /tmp/perf-12.map']]);
  });

  it('is reported to have no names if its dump is missing or damaged', async () => {
    const records = [marker(10n), memory(11n), sample(30n)];
    expect(await read(records, {})).toMatchObject({ frames: ['? /tmp/perf-12.map'], problems: ['jitdump-missing'] });
    expect(await read(records, { dump: new TextEncoder().encode('no dump') })).toMatchObject({ frames: ['? /tmp/perf-12.map'], problems: ['jitdump-damaged'] });
    const half = encodeJitDump({ records: LOADS }).subarray(0, -30);
    expect(await read(records, { dump: half })).toMatchObject({ frames: [`first ${PATH}`], problems: ['jitdump-damaged'] });
    const moves: JitRecordSpec[] = [7n, 8n].map((move) => ({ move, to: JIT, time: 21n }));
    const { messages } = await read(records, { dump: encodeJitDump({ records: [...LOADS, ...moves] }) });
    expect(messages.join()).toMatch(/JIT_CODE_MOVE of code that was not loaded at 0x[0-9a-f]+: the first of 2 records that are left out$/);
  });

  it('is where it was last moved to, however often it was moved', async () => {
    const size = 1 << 20;
    const moves = Array.from({ length: 2 ** 33 / size + 5 }, (_, i): JitRecordSpec => ({ move: 1n, to: JIT + BigInt(i % 2) * 0x20_0000n, time: 21n }));
    const dump: JitRecordSpec[] = [{ load: 'large', at: JIT + 0x40_0000n, code: size, index: 1n, time: 20n }, ...moves];
    const { frames, problems } = await read([marker(10n), sample(30n)], { dump });
    expect([frames, problems]).toEqual([[`large ${PATH}`], []]);
  });

  whenThorough(() => {
    it('is left out if processes load more of it than plausible', async () => {
      const moves = Array.from({ length: 4200 }, (_, i): JitRecordSpec => ({ move: 1n, to: JIT + BigInt(i % 2) * 0x1000n, time: 21n }));
      const dump: JitRecordSpec[] = [{ load: 'piece', at: JIT + 0x4000n, code: 16, index: 1n, time: 20n }, ...moves];
      const pids = Array.from({ length: 1000 }, (_, i) => 100 + i);
      const records = [...pids.map((pid) => marker(10n, pid)), sample(30n, JIT + 0x4n, 100), sample(31n, JIT + 0x4n, 1099)];
      const { frames, problems } = await read(records, { dump });
      expect([frames, problems]).toEqual([[`piece ${PATH}`, '? -'], ['jitdump-excess']]);
    });
  });

  it('is read for only a limited number of processes', async () => {
    const pids = Array.from({ length: 1026 }, (_, i) => 100 + i);
    const records = [...pids.map((pid) => marker(10n, pid)), sample(30n, JIT + 0x104n, 100), sample(31n, JIT + 0x104n, 1125)];
    const { frames, problems } = await read(records, { dump: LOADS });
    expect([frames, problems]).toEqual([[`first ${PATH}`, '? -'], ['jitdump-excess']]);
  });
});
