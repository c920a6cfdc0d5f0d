import { beforeEach, describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import type { RecordingContext } from '../../../src/base/streams/recording-input.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { SymbolSearch } from '../../../src/symbolizer/inputs/search-log.ts';
import { fileCrc, readDebugLink } from '../../../src/symbolizer/search/debug-link.ts';
import { type CodeObject, Symbolizer, type SymbolizerOptions } from '../../../src/symbolizer/symbolizer.ts';
import { buildElf, type ElfPlan, TEXT } from '../../support/builders/elf/elf-builder.ts';
import { assembleFrames } from '../../support/builders/unwind/frame-assembler.ts';
import { CIE, fde } from '../../support/builders/unwind/x86-64-functions.ts';
import { ServedFiles } from '../../support/programs/served-symbol-files.ts';
import { spread } from '../../support/thoroughness.ts';

const ID = 'aa11111111111111111111111111111111111111';
const OTHER_ID = 'bb22222222222222222222222222222222222222';
const BY_ID = '/.build-id/aa/11111111111111111111111111111111111111';
const PATH = '/opt/app/bin/server';

/** A file with one symbol at the start of its code. */
const named = (symbol: string, more: Partial<ElfPlan> = {}): Buffer =>
  buildElf({ classBits: 64, littleEndian: true, buildId: ID, symbols: [{ name: symbol, value: TEXT.vaddr, sizeBytes: 64 }], ...more });
const stripped = (more: Partial<ElfPlan> = {}): Buffer => buildElf({ classBits: 64, littleEndian: true, buildId: ID, ...more });

let files: ServedFiles;
let diagnostics: Diagnostics;
let search: SymbolSearch;
beforeEach(() => {
  files = new ServedFiles();
  diagnostics = new Diagnostics();
});

/** The name found at the start of `.text`; `search` then has what was looked at. */
async function nameOf(
  object: Partial<CodeObject> = {},
  options: Partial<SymbolizerOptions> = {},
  lines = false,
  recording: RecordingContext = {},
): Promise<string | undefined> {
  search = new SymbolSearch();
  const symbolizer = new Symbolizer(files, { debugDirs: ['/usr/lib/debug'], compatPerf: false, ...options }, diagnostics);
  const code = await symbolizer.forRecording(recording).symbolsFor({ name: PATH, kind: 'file', buildId: ID, osRelease: '', ...object }, { lines, search });
  await code?.close?.();
  expect(files.openCount).toBe(0);
  const index = code?.table?.find(TEXT.offset) ?? -1;
  return index < 0 ? undefined : code!.table!.name(index);
}

const outcomeOf = (place: string) => search.places.find((one) => one.place === place);

describe('files of a binary', () => {
  it.each<[string, string, Partial<CodeObject>, Partial<SymbolizerOptions>]>([
    ['the build-id cache', `/home/u/.debug${BY_ID}/elf`, {}, {}],
    ["old perf's cache, where the id is a link to the file", `/home/u/.debug${BY_ID}`, {}, {}],
    ['symfs without directories', '/sys/server', {}, { symfs: '/sys' }],
    ["pprof's directories by id", `/pprof/${ID}/server`, {}, { binaryDirs: ['/pprof'] }],
    ["pprof's directories by path", `/pprof${PATH}`, { buildId: '' }, { binaryDirs: ['/none', '/pprof'] }],
    ["pprof's directories by name", '/pprof/server', { buildId: '' }, { binaryDirs: ['/pprof'] }],
    ['what a process was started from', '/proc/7/exe', { pid: 7 }, {}],
    ["a process's root directory", `/proc/7/root${PATH}`, { pid: 7 }, {}],
    ['where it was before it was deleted', PATH, { name: `${PATH} (deleted)` }, {}],
    ['a path that was kept under its recorded name', `/sys${PATH} (deleted)`, { name: `${PATH} (deleted)`, buildId: '' }, { symfs: '/sys' }],
    ['a path that ends as those of deleted files do', `${PATH} (deleted)`, { name: `${PATH} (deleted)` }, {}],
    ['a cache, for a path that is none', `/home/u/.debug${BY_ID}/elf`, { name: '/memfd:jit (deleted)' }, {}],
  ])('come from %s', async (_, place, object, options) => {
    files.content.set('/proc/7/comm', Buffer.from('server'));
    files.content.set(place, named('found'));
    expect(await nameOf(object, options)).toBe('found');
    expect(outcomeOf(place)).toMatchObject({ outcome: 'fits', uses: ['addresses', 'symbols'] });
  });

  it('never come from a process that is not the recorded one', async () => {
    for (const place of ['/proc/7/exe', `/proc/7/root${PATH}`]) files.content.set(place, named('found'));
    expect(await nameOf({ pid: 7 })).toBeUndefined();
    files.content.set('/proc/7/comm', Buffer.from('server'));
    expect(await nameOf({ pid: 7, buildId: '' })).toBeUndefined();
    expect(await nameOf({ pid: 7, buildId: OTHER_ID })).toBeUndefined();
    expect(await nameOf({ pid: 7 }, { compatPerf: true })).toBeUndefined();
  });

  it('are not reported as different if they are those of another process with that id', async () => {
    files.content.set('/proc/7/comm', Buffer.from('bash'));
    for (const place of ['/proc/7/exe', `/proc/7/root${PATH}`]) files.content.set(place, named('other', { buildId: OTHER_ID }));
    expect(await nameOf({ pid: 7 })).toBeUndefined();
    expect(outcomeOf('/proc/7/exe')).toMatchObject({ outcome: 'other-build-id' });
    expect(diagnostics.list()).toEqual([]);
    files.content.set(PATH, named('other', { buildId: OTHER_ID }));
    await nameOf({ pid: 7 });
    expect(diagnostics.count('build-id-mismatch')).toBe(1);
  });

  it.each([PATH, `/usr/lib/debug${PATH}.debug`, `/usr/lib/debug${BY_ID}.debug`])('with compatPerf are only under symfs if there is one: %s', async (place) => {
    files.content.set(place, named('outside'));
    expect(await nameOf({}, { symfs: '/sys' })).toBe('outside');
    expect(await nameOf({}, { symfs: '/sys', compatPerf: true })).toBeUndefined();
    files.content.set(`/sys${place}`, named('inside'));
    expect(await nameOf({}, { symfs: '/sys', compatPerf: true })).toBe('inside');
  });

  describe('that a process has mapped', () => {
    const MAPPED = { pid: 7, fileIdentity: '254:1:4711' };
    const MAP_FILE = '/proc/7/map_files/55d0c0401000-55d0c0402000';
    beforeEach(() => {
      const line = (range: string, inode: number): string => `${range} r-xp 00001000 fe:01 ${inode}      ${PATH} (deleted)\n`;
      files.content.set('/proc/7/comm', Buffer.from('server'));
      files.content.set('/proc/7/maps', Buffer.from(line('55d0c0101000-55d0c0102000', 471) + line('55d0c0401000-55d0c0402000', 4711)));
      files.content.set(MAP_FILE, named('mapped'));
      files.content.set(PATH, named('other', { buildId: OTHER_ID }));
    });

    it('are recognized by device and inode if the build id is unknown or shared', async () => {
      expect(await nameOf({ ...MAPPED, buildId: '' })).toBe('mapped');
      expect(await nameOf({ ...MAPPED, buildId: '', name: `${PATH} (deleted)` })).toBe('mapped');
      expect(await nameOf({ ...MAPPED, buildId: OTHER_ID, sharesName: true })).toBe('mapped');
      expect(diagnostics.list()).toEqual([]);
      expect(await nameOf({ ...MAPPED, buildId: OTHER_ID })).toBe('other');
    });

    it('may be what the process was started from, which not only root may open', async () => {
      files.content.delete(MAP_FILE);
      files.content.set('/proc/7/exe', named('started'));
      const startedFrom = (inode: string) => async (path: string) => (path === '/proc/7/exe' ? { inode, modifiedNs: 0n } : undefined);
      files.stamp = startedFrom('4711');
      expect(await nameOf({ ...MAPPED, buildId: '' })).toBe('started');
      files.stamp = startedFrom('4712');
      expect(await nameOf({ ...MAPPED, buildId: '' })).toBe('other');
    });

    it('are looked up in a list that is read once for all files of the process', async () => {
      const symbolizer = new Symbolizer(files, { debugDirs: [], compatPerf: false }, diagnostics);
      for (const fileIdentity of ['254:1:4711', '254:1:471', '254:1:47']) {
        await symbolizer.symbolsFor({ name: PATH, kind: 'file', buildId: '', osRelease: '', pid: 7, fileIdentity });
      }
      expect(files.asked.filter((path) => path === '/proc/7/maps')).toHaveLength(1);
    });

    it('have debug files with their own build id', async () => {
      files.content.set(MAP_FILE, stripped());
      files.content.set(`/usr/lib/debug${BY_ID}.debug`, named('debug'));
      expect(await nameOf({ ...MAPPED, buildId: OTHER_ID, sharesName: true })).toBe('debug');
    });

    it('are used only if they are certain', async () => {
      for (const fileIdentity of ['254:1:47', '254:0:4711', '0:0:0', '']) expect(await nameOf({ pid: 7, fileIdentity, buildId: '' })).toBe('other');
      expect(await nameOf({ ...MAPPED, buildId: '' }, { symfs: '/mnt' })).toBeUndefined();
      expect(await nameOf({ ...MAPPED, buildId: '' }, { compatPerf: true })).toBe('other');
      files.content.delete('/proc/7/comm');
      expect(await nameOf({ ...MAPPED, buildId: '' })).toBe('other');
    });
  });

  it('may be in a format of their runtime, of which nothing but the place is noted, unless a build id was recorded', async () => {
    for (const compatPerf of [false, true]) {
      files.content.set(PATH, Buffer.from('MZ, as the PE files of .NET begin'));
      expect(await nameOf({ buildId: '' }, { compatPerf })).toBeUndefined();
      expect(outcomeOf(PATH)).toMatchObject({ outcome: 'damaged', detail: 'not an ELF file', uses: [] });
      expect(diagnostics.list()).toEqual([]);
      expect(await nameOf({}, { compatPerf })).toBeUndefined();
      expect(diagnostics.list()).toMatchObject([{ code: 'symbol-file-damaged', message: `${PATH}: ELF header at 0x0: not an ELF file` }]);
      // A debug file cannot.
      diagnostics = new Diagnostics();
      files.content.set(PATH, named('found'));
      files.content.set(`/usr/lib/debug${PATH}`, Buffer.from('no ELF file'));
      await nameOf({ buildId: '' }, { compatPerf }, true);
      expect(diagnostics.count('symbol-file-damaged')).toBe(1);
      diagnostics = new Diagnostics();
      files.content.clear();
    }
  });

  it('are used as far as they go if they are cut off, with a report', async () => {
    const whole = named('whole', { withoutNoteSection: true });
    const sectionHeadersAt = Number(whole.readBigUInt64LE(40)); // e_shoff
    const cut = 'it is cut off: its section headers would lie beyond its end';
    for (const sizeBytes of [sectionHeadersAt, sectionHeadersAt + 64]) {
      diagnostics = new Diagnostics();
      files.content.clear();
      files.content.set(PATH, whole.subarray(0, sizeBytes));
      expect(await nameOf()).toBeUndefined();
      expect(diagnostics.list()).toMatchObject([{ code: 'symbol-file-damaged', message: `${PATH}: ${cut}` }]);
      files.content.set(`/usr/lib/debug${BY_ID}.debug`, named('debug'));
      expect(await nameOf()).toBe('debug');
      expect(outcomeOf(PATH)).toMatchObject({ outcome: 'fits', detail: cut, holds: { isCut: true, code: true }, uses: ['addresses'] });
    }
  });

  it('give way to complete files with the same build id if they are cut off', async () => {
    const whole = named('whole', { withoutNoteSection: true });
    files.content.set(`/mnt${PATH}`, whole.subarray(0, Number(whole.readBigUInt64LE(40))));
    expect(await nameOf({}, { symfs: '/mnt' })).toBeUndefined();
    files.content.set(PATH, whole);
    expect(await nameOf({}, { symfs: '/mnt' })).toBe('whole');
    // Without a build id, nothing tells that they are the same.
    expect(await nameOf({ buildId: '' }, { symfs: '/mnt' })).toBeUndefined();
  });

  it('are in doubt at the recorded path if they were replaced and no build id was recorded', async () => {
    const stamp = { inode: '4711', modifiedNs: 1_000n };
    files.stamp = async (path) => (path === PATH ? stamp : undefined);
    files.content.set(PATH, named('perhaps'));
    files.content.set(`/mnt${PATH}`, named('given'));
    const doubts = async (object: Partial<CodeObject>, options: Partial<SymbolizerOptions> = {}, recording: RecordingContext = {}): Promise<string> => {
      diagnostics = new Diagnostics();
      expect(await nameOf({ buildId: '', ...object }, options, false, recording)).toBe(options.symfs === undefined ? 'perhaps' : 'given');
      const [found] = diagnostics.list();
      return found === undefined ? '' : `${found.severity} ${found.code}: ${found.message}`;
    };
    expect(await doubts({ fileIdentity: '254:1:4712' })).toBe(
      `warning file-changed: ${PATH} may not be the file that was recorded: no build id was recorded, and its inode is not the recorded one`,
    );
    expect(outcomeOf(PATH)).toMatchObject({ outcome: 'fits', doubt: 'changed', detail: expect.stringContaining('its inode is not the recorded one') });
    expect(await doubts({ fileIdentity: '254:1:4711' }, {}, { modifiedNs: 999n })).toContain('it was changed after the recording was made');
    expect(await doubts({ fileIdentity: '254:1:4711' }, {}, { modifiedNs: 1_000n })).toBe('');
    // The inode is unknown for memory and in old recordings.
    for (const fileIdentity of ['0:0:0', '']) expect(await doubts({ fileIdentity })).toBe('');
    expect(await doubts({ buildId: ID, fileIdentity: '254:1:4712' })).toBe('');
    expect(await doubts({ fileIdentity: '254:1:4712' }, { symfs: '/mnt' })).toBe('');
  });

  it('are not reported as missing if they are directories and the like', async () => {
    files.stamp = async (path) => (path === PATH ? { inode: '1', modifiedNs: 0n } : undefined);
    expect(await nameOf()).toBeUndefined();
    expect(outcomeOf(PATH)).toMatchObject({ outcome: 'damaged', detail: 'it is not a regular file' });
    expect(outcomeOf(`/home/u/.debug${BY_ID}/elf`)).toMatchObject({ outcome: 'absent' });
  });

  it('are in doubt if the build id may be that of another file with the same path', async () => {
    files.content.set(PATH, named('perhaps'));
    expect(await nameOf({ sharesName: true })).toBe('perhaps');
    expect(diagnostics.list()).toMatchObject([{ code: 'build-id-shared', severity: 'warning', message: expect.stringContaining(PATH) }]);
    files.content.clear();
    diagnostics = new Diagnostics();
    expect(await nameOf({ sharesName: true })).toBeUndefined();
    expect(diagnostics.list()).toEqual([]);
  });

  it('are not taken from the path of a deleted one without a build id', async () => {
    for (const place of [PATH, `/usr/lib/debug${PATH}.debug`, `/opt/app/bin/.debug/server`]) files.content.set(place, named('new'));
    expect(await nameOf({ name: `${PATH} (deleted)`, buildId: '' })).toBeUndefined();
  });

  it.each(['/proc/self/mem', '/opt/../proc/kcore', '/sys/kernel/debug/tracing/trace_pipe', 'server', '', '//anon', '../server'])(
    'are not looked for at %j, which is not the path of a file',
    async (name) => {
      files.content.set('/opt/app/bin/server', named('other'));
      await nameOf({ name });
      await nameOf({ name, buildId: '' }, { symfs: '/sys', binaryDirs: ['/pprof'] });
      expect(files.asked.filter((path) => !path.includes(BY_ID))).toEqual([]);
      expect(search.places).toMatchObject([{ place: name, outcome: 'skipped' }]);
    },
  );
});

describe('debug files', () => {
  it.each<[string, Partial<ElfPlan>, string | undefined]>([
    ['used if the CRC fits', {}, 'fromDebug'],
    ['refused if it does not', { dynamicSymbols: [{ name: 'more', value: TEXT.vaddr }] }, undefined],
  ])('without build ids, to which a debug link leads, are %s', async (_, more, name) => {
    const built = { classBits: 64, littleEndian: true, isDebugFile: true, symbols: [{ name: 'fromDebug', value: TEXT.vaddr, sizeBytes: 64 }] } as const;
    const right = buildElf(built);
    const debugLinkCrc = await fileCrc(new BufferSource(right));
    files.content.set(PATH, buildElf({ classBits: 64, littleEndian: true, debugLink: 'server.dbg', debugLinkCrc }));
    files.content.set('/opt/app/bin/server.dbg', buildElf({ ...built, ...more }));
    expect(await nameOf({ buildId: '' })).toBe(name);
    expect(outcomeOf('/opt/app/bin/server.dbg')?.outcome).toBe(name === undefined ? 'other-crc' : 'fits');
    expect(diagnostics.list().map(({ code }) => code)).toEqual(name === undefined ? ['debug-link-mismatch'] : []);
  });

  it('without their binary are read at the offsets from which its code was mapped', async () => {
    files.content.set(`/usr/lib/debug${BY_ID}.debug`, named('fromDebug', { isDebugFile: true, keepsSegments: true }));
    expect(await nameOf()).toBeUndefined();
    expect(outcomeOf(`/usr/lib/debug${BY_ID}.debug`)).toMatchObject({ outcome: 'fits', uses: [] });
    expect(await nameOf({ codeStart: TEXT.offset })).toBe('fromDebug');
  });

  it('are preferred to .gnu_debugdata, which is otherwise used together with .dynsym', async () => {
    const mini = named('local', { isDebugFile: true });
    Object.assign(files, { decompress: async (compression: string, bytes: Uint8Array) => (compression === 'xz' ? Buffer.from(bytes).reverse() : bytes) });
    const plan = {
      moreSections: [{ name: '.gnu_debugdata', content: Buffer.from(mini).reverse() }],
      dynamicSymbols: [{ name: 'exported', value: TEXT.vaddr + 64, sizeBytes: 64 }],
    };
    files.content.set(PATH, stripped(plan));
    expect(await nameOf()).toBe('local');
    expect(outcomeOf(`.gnu_debugdata in ${PATH}`)).toMatchObject({ uses: ['symbols'] });
    const table = (await new Symbolizer(files, { debugDirs: [], compatPerf: false }, diagnostics).symbolsFor({
      name: PATH,
      kind: 'file',
      buildId: ID,
      osRelease: '',
    }))!.table!;
    expect(table.name(table.find(TEXT.offset + 64))).toBe('exported');
    files.content.set('/opt/app/bin/.debug/server', named('fromDebug', { isDebugFile: true }));
    expect(await nameOf()).toBe('fromDebug');
    expect(await nameOf({}, { compatPerf: true, debugDirs: [] })).toBe('fromDebug');
  });

  it('include .gnu_debugdata, whose damage is reported', async () => {
    files.content.set(PATH, stripped({ moreSections: [{ name: '.gnu_debugdata', content: Buffer.from('no xz') }] }));
    expect(await nameOf()).toBeUndefined();
    expect(diagnostics.list()).toMatchObject([{ code: 'symbol-file-damaged', message: expect.stringContaining(`.gnu_debugdata in ${PATH}: `) }]);
  });
});

it('a file that may not be read is not reported as missing', async () => {
  Object.assign(files, { isForbidden: async (path: string) => path === PATH });
  expect(await nameOf()).toBeUndefined();
  expect(outcomeOf(PATH)?.outcome).toBe('forbidden');
  expect(outcomeOf(`/home/u/.debug${BY_ID}/elf`)?.outcome).toBe('absent');
});

it('a debug link is followed from where the binary was found', async () => {
  files.content.set('/pprof/server', stripped({ debugLink: 'server.dbg' }));
  for (const place of ['/pprof/server.dbg', '/pprof/.debug/server.dbg']) {
    files.content.set(place, named('linked', { isDebugFile: true }));
    expect(await nameOf({}, { binaryDirs: ['/pprof'] })).toBe('linked');
    files.content.delete(place);
  }
});

it('a broken byte in a binary or its debug file never causes an exception or leaves a file open', async () => {
  const altlink = Buffer.concat([Buffer.from('/usr/lib/debug/.dwz/common\0'), Buffer.from(OTHER_ID, 'hex')]);
  const debugFile = named('fromDebug', {
    isDebugFile: true,
    keepsSegments: true,
    moreSections: [
      { name: '.debug_info', content: Buffer.from('1d0000000500010800000000', 'hex') },
      { name: '.gnu_debugaltlink', content: altlink },
    ],
  });
  const binary = stripped({
    debugLink: 'server.dbg',
    debugLinkCrc: await fileCrc(new BufferSource(debugFile)),
    dynamicSymbols: [{ name: 'exported', value: TEXT.vaddr }],
    moreSections: [{ name: '.gnu_debugdata', content: Buffer.from('fd377a585a000004', 'hex') }],
  });
  // Not in the code, of which nothing is read.
  const places = [...Array(0x100).keys(), ...Array.from({ length: binary.length - 0x2400 }, (_, i) => 0x2400 + i)];
  for (const place of spread(places, 13)) {
    for (const value of [0x00, 0x7f, 0xff]) {
      const brokenBinary = Buffer.from(binary);
      brokenBinary[place] = value;
      files.content.set(PATH, brokenBinary);
      files.content.set('/opt/app/bin/server.dbg', debugFile);
      await nameOf({ buildId: '' }, {}, true);
      if (place >= debugFile.length) continue;
      const brokenDebugFile = Buffer.from(debugFile);
      brokenDebugFile[place] = value;
      files.content.set('/opt/app/bin/server.dbg', brokenDebugFile);
      files.content.set(PATH, binary);
      await nameOf({ codeStart: TEXT.offset }, {}, true);
    }
  }
});

describe('servers', () => {
  it('are asked only for what is not on this machine', async () => {
    files.content.set(PATH, named('here'));
    expect(await nameOf()).toBe('here');
    expect(files.fetched).toEqual([]);
    expect(await nameOf({}, {}, true)).toBe('here');
    expect(files.fetched).toEqual(['debuginfo']);
    files.content.set(PATH, stripped());
    files.served.set('debuginfo', named('served', { isDebugFile: true }));
    expect(await nameOf()).toBe('served');
    expect(files.fetched).toEqual(['debuginfo', 'debuginfo']);
    files.content.clear();
    files.served.set('executable', stripped());
    expect(await nameOf()).toBe('served');
    expect(files.fetched.slice(2)).toEqual(['debuginfo', 'executable']);
  });

  it('are not asked without a build id, or with compatPerf', async () => {
    expect(await nameOf({ buildId: '' })).toBeUndefined();
    expect(await nameOf({ buildId: '0'.repeat(40) })).toBeUndefined();
    expect(await nameOf({}, { compatPerf: true })).toBeUndefined();
    expect(files.fetched).toEqual([]);
  });

  it('are reported if they send another file or fail', async () => {
    files.served.set('debuginfo', named('other', { buildId: OTHER_ID }));
    files.failure = 'it answered with status 503';
    expect(await nameOf()).toBeUndefined();
    expect(outcomeOf('/cache/debuginfo')).toMatchObject({ outcome: 'other-build-id' });
    expect(outcomeOf(`https://server/buildid/${ID}/executable`)).toMatchObject({ outcome: 'failed', detail: 'it answered with status 503' });
    expect(diagnostics.list().map(({ code }) => code)).toEqual(['build-id-mismatch', 'debuginfod-failed']);
  });
});

describe('rules for unwinding', () => {
  const rules = assembleFrames([[CIE, [{ ...fde(TEXT.vaddr), sizeBytes: TEXT.sizeBytes }]]], { isDebugFrame: true }).bytes;
  const withRules = {
    moreSections: [
      { name: '.debug_frame', content: rules },
      { name: '.debug_info', content: Buffer.alloc(16) },
    ],
  };
  const hasRules = async (lines: boolean): Promise<boolean | undefined> => {
    const symbolizer = new Symbolizer(files, { debugDirs: ['/usr/lib/debug'], compatPerf: false }, diagnostics);
    const found = await symbolizer.forRecording({}).unwindRulesFor({ name: PATH, kind: 'file', buildId: ID, osRelease: '' }, lines);
    await found?.close();
    expect(files.openCount).toBe(0);
    return found?.module.hasRules;
  };

  it('are looked for in debug files of this machine, and on servers only if lines are wanted', async () => {
    files.content.set(PATH, named('here'));
    files.served.set('debuginfo', named('served', { isDebugFile: true, ...withRules }));
    expect(await hasRules(false)).toBe(false);
    expect(files.fetched).toEqual([]);
    expect(await hasRules(true)).toBe(true);
    expect(files.fetched).toEqual(['debuginfo']);
    files.content.set(`/usr/lib/debug${BY_ID}.debug`, named('here', { isDebugFile: true, ...withRules }));
    for (const lines of [false, true]) expect(await hasRules(lines)).toBe(true);
    expect(files.fetched).toEqual(['debuginfo']);
  });

  it('report a server that fails, since it is not asked again, but not yet what is wrong with a file', async () => {
    files.content.set(PATH, named('other', { buildId: OTHER_ID }));
    files.failure = 'it refuses connections';
    expect(await hasRules(true)).toBeUndefined();
    expect(diagnostics.list().map(({ code, message }) => [code, message])).toEqual([
      ['debuginfod-failed', `https://server/buildid/${ID}/debuginfo: it refuses connections`],
    ]);
  });
});

describe('a debug link', () => {
  const linkOf = async (plan: Partial<ElfPlan>) => readDebugLink(await ElfFile.open(new BufferSource(stripped(plan))));

  it.each([true, false])('has a name and a CRC (little-endian: %s)', async (littleEndian) => {
    for (const debugLink of ['a', 'abc', 'abcd', 'server.debug']) {
      expect(await linkOf({ littleEndian, debugLink, debugLinkCrc: 0x12345678 })).toEqual({ fileName: debugLink, crc: 0x12345678 });
    }
  });

  it('never leads to another directory', async () => {
    for (const debugLink of ['', '.', '..', '../a', '/etc/a', '..\\a']) expect(await linkOf({ debugLink })).toBeUndefined();
    expect(await linkOf({})).toBeUndefined();
  });

  it('is ignored if its CRC is cut off', async () => {
    expect(await linkOf({ moreSections: [{ name: '.gnu_debuglink', content: Buffer.from('server.debug') }] })).toBeUndefined();
    expect(await linkOf({ moreSections: [{ name: '.gnu_debuglink', content: Buffer.from('server.debug\0\0\0\0') }] })).toBeUndefined();
  });

  it('has the CRC-32 of a file of any size', async () => {
    const crcOf = (text: string) => fileCrc(new BufferSource(Buffer.from(text)));
    expect(await crcOf('')).toBe(0);
    // The check value of the CRC catalog.
    expect(await crcOf('123456789')).toBe(0xcbf43926);
    expect(await crcOf('1234')).toBe(0x9be3e0a3);
  });
});
