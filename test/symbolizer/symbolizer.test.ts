import { beforeEach, describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { PerfconvError } from '../../src/base/problems/errors.ts';
import type { RecordingContext } from '../../src/base/streams/recording-input.ts';
import { SymbolSearch } from '../../src/symbolizer/inputs/search-log.ts';
import { type CodeObject, Symbolizer, type SymbolizerOptions } from '../../src/symbolizer/symbolizer.ts';
import { buildElf, type ElfPlan, TEXT } from '../support/builders/elf/elf-builder.ts';
import { buildGoTable } from '../support/builders/elf/go-table-builder.ts';
import { MadeFiles } from '../support/builders/made-symbol-files.ts';

const ID = 'aa11111111111111111111111111111111111111';
const OTHER_ID = 'bb22222222222222222222222222222222222222';
const KERNEL_ID = 'cc33333333333333333333333333333333333333';
const PATH = '/opt/app/bin/server';

function elf(symbol: string, more: Partial<ElfPlan> = {}): Buffer {
  return elfWithoutId(symbol, { buildId: ID, ...more });
}

function elfWithoutId(symbol: string, more: Partial<ElfPlan> = {}): Buffer {
  return buildElf({ classBits: 64, littleEndian: true, symbols: [{ name: symbol, value: TEXT.vaddr, sizeBytes: 64 }], ...more });
}

const stripped = (more: Partial<ElfPlan> = {}): Buffer => buildElf({ classBits: 64, littleEndian: true, buildId: ID, ...more });

let files: MadeFiles;
let diagnostics: Diagnostics;
beforeEach(() => {
  files = new MadeFiles();
  diagnostics = new Diagnostics();
});

function symbolizer(options: Partial<SymbolizerOptions> = {}): Symbolizer {
  return new Symbolizer(files, { debugDirs: ['/usr/lib/debug'], compatPerf: false, ...options }, diagnostics);
}

/** The name found at the start of `.text`. */
async function nameOf(
  object: Partial<CodeObject>,
  options: Partial<SymbolizerOptions> = {},
  address: number = TEXT.offset,
  recording: RecordingContext = {},
): Promise<string | undefined> {
  const symbols = symbolizer(options).forRecording(recording);
  const table = (await symbols.symbolsFor({ name: PATH, kind: 'file', buildId: ID, osRelease: '', ...object }))?.table;
  expect(files.openCount).toBe(0);
  const index = table?.find(address) ?? -1;
  return index < 0 ? undefined : table!.name(index);
}

describe('files', () => {
  it('uses the file at the recorded path', async () => {
    files.content.set(PATH, elf('fromPath'));
    expect(await nameOf({})).toBe('fromPath');
    expect(await nameOf({ buildId: '' })).toBe('fromPath');
    expect(diagnostics.list()).toEqual([]);
  });

  it("uses Go's table of functions if a program has no symbol table", async () => {
    const { bytes } = buildGoTable({
      version: 20,
      textStart: TEXT.vaddr,
      functions: [
        { name: 'main.run', start: 0 },
        { name: 'main.other', start: 66 },
      ],
      end: 80,
    });
    const moreSections = [{ name: '.gopclntab', content: bytes }];
    files.content.set(PATH, stripped({ moreSections }));
    const ofGo = async (): Promise<unknown> => {
      const symbols = symbolizer().forRecording({});
      return (await symbols.symbolsFor({ name: PATH, kind: 'file', buildId: ID, osRelease: '' }))?.endsNoFunctionWithCall;
    };
    expect(await nameOf({})).toBe('main.run');
    expect(await ofGo()).toBe(true);
    expect(await nameOf({}, {}, TEXT.offset + 80)).toBeUndefined();
    expect(await nameOf({}, { compatPerf: true })).toBeUndefined();
    files.content.set(PATH, stripped({ moreSections, dynamicSymbols: [{ name: 'exported', value: TEXT.vaddr + 80, sizeBytes: 8 }] }));
    expect(await nameOf({})).toBe('main.run');
    expect(await nameOf({}, {}, TEXT.offset + 80)).toBe('exported');
    // A small `.symtab` has what somebody kept; one with all functions of the runtime is used alone.
    files.content.set(PATH, elf('keptMain', { moreSections }));
    expect(await nameOf({})).toBe('keptMain');
    expect(await nameOf({}, {}, TEXT.offset + 70)).toBe('main.other');
    const symbols = Array.from({ length: 1000 }, (_, i) => ({ name: `f${i}`, value: TEXT.vaddr + i, sizeBytes: 1 }));
    files.content.set(PATH, stripped({ moreSections, symbols }));
    expect(await nameOf({}, {}, TEXT.offset + 70)).toBe('f70');
    expect(await ofGo()).toBeUndefined();
    expect(diagnostics.list()).toEqual([]);
  });

  it('reports a damaged table of Go’s functions, and continues without it', async () => {
    files.content.set(PATH, stripped({ moreSections: [{ name: '.gopclntab', content: new Uint8Array(64) }] }));
    expect(await nameOf({})).toBeUndefined();
    expect(diagnostics.list()).toMatchObject([{ code: 'symbol-file-damaged', message: `${PATH}: .gopclntab: unknown version` }]);
  });

  it('considers a shorter build id padded with zeros', async () => {
    files.content.set(PATH, elf('fromPath', { buildId: 'aa11111111111111' }));
    expect(await nameOf({ buildId: `aa11111111111111${'0'.repeat(24)}` })).toBe('fromPath');
  });

  it('refuses a file with another build id, with a report', async () => {
    files.content.set(PATH, elf('wrong', { buildId: OTHER_ID }));
    expect(await nameOf({})).toBeUndefined();
    expect(diagnostics.list()).toMatchObject([{ code: 'build-id-mismatch', severity: 'warning', message: expect.stringContaining(PATH), count: 1 }]);
  });

  it('refuses a file without a build id if the recording has one, with a report', async () => {
    files.content.set(PATH, elfWithoutId('replaced'));
    expect(await nameOf({})).toBeUndefined();
    expect(diagnostics.list()[0]).toMatchObject({
      code: 'build-id-mismatch',
      message: `${PATH} is not the file that was recorded: it has no build id, but the recording has ${ID}`,
    });
    // If nothing is known about the recorded file, there is nothing to check.
    expect(await nameOf({ buildId: '' })).toBe('replaced');
    expect(await nameOf({ buildId: '0'.repeat(40) })).toBe('replaced');
  });

  it('refuses a debug file without a build id beside a binary that has one', async () => {
    files.content.set(PATH, elf('fromPath'));
    files.content.set('/usr/lib/debug/opt/app/bin/server', elfWithoutId('stray', { isDebugFile: true }));
    expect(await nameOf({})).toBe('fromPath');
    expect(await nameOf({ buildId: '' })).toBe('fromPath');
  });

  it.each([
    ['the build-id cache', '/home/u/.debug/.build-id/aa/11111111111111111111111111111111111111/elf'],
    ['the debug file in the build-id cache', '/home/u/.debug/.build-id/aa/11111111111111111111111111111111111111/debug'],
    ['a debug file by path', '/usr/lib/debug/opt/app/bin/server.debug'],
    ['a debug file of the same name', '/usr/lib/debug/opt/app/bin/server'],
    ['a debug file by build id', '/usr/lib/debug/.build-id/aa/11111111111111111111111111111111111111.debug'],
    ['the linked debug file beside it', '/opt/app/bin/server.dbg'],
    ['the linked debug file in .debug', '/opt/app/bin/.debug/server.dbg'],
    ['the linked debug file under the debug directory', '/usr/lib/debug/opt/app/bin/server.dbg'],
  ])('uses the symbols of %s if the binary has none, and with compatPerf always', async (_, place) => {
    files.content.set(PATH, elf('fromPath', { debugLink: 'server.dbg' }));
    files.content.set(place, elf('preferred', { isDebugFile: true }));
    expect(await nameOf({})).toBe('fromPath');
    expect(await nameOf({}, { compatPerf: true })).toBe('preferred');
    expect(await nameOf({ buildId: '' }, { compatPerf: true })).toBe('preferred');
    files.content.set(PATH, stripped({ debugLink: 'server.dbg' }));
    expect(await nameOf({})).toBe('preferred');
    expect(await nameOf({ buildId: '' })).toBe('preferred');
    files.content.set(place, elf('preferred', { isDebugFile: true, buildId: OTHER_ID }));
    expect(await nameOf({})).toBeUndefined();
    expect(await nameOf({ buildId: '' })).toBeUndefined();
    files.content.set(PATH, elf('fromPath', { debugLink: 'server.dbg' }));
    expect(await nameOf({}, { compatPerf: true })).toBe('fromPath');
    expect(await nameOf({ buildId: '' }, { compatPerf: true })).toBe('fromPath');
  });

  it('uses the symbols of a debug file in .debug if the binary has none', async () => {
    files.content.set(PATH, stripped());
    files.content.set('/opt/app/bin/.debug/server', elf('fromDebug', { isDebugFile: true }));
    expect(await nameOf({})).toBe('fromDebug');
  });

  it('finds a binary in the build-id cache if it is no longer at its path', async () => {
    files.content.set('/cache/.build-id/aa/11111111111111111111111111111111111111/elf', elf('cached'));
    expect(await nameOf({}, { buildIdDir: '/cache' })).toBe('cached');
  });

  it('looks in the build-id cache of symfs with compatPerf, in that of this machine without', async () => {
    const entry = '.build-id/aa/11111111111111111111111111111111111111/elf';
    files.content.set(`/home/u/.debug/${entry}`, elf('cachedHere'));
    files.content.set(`/sysroot/.debug/${entry}`, elf('cachedThere'));
    expect(await nameOf({}, { symfs: '/sysroot' })).toBe('cachedHere');
    expect(await nameOf({}, { symfs: '/sysroot', compatPerf: true })).toBe('cachedThere');
    expect(await nameOf({}, { symfs: '/other', compatPerf: true })).toBeUndefined();
    expect(await nameOf({}, { symfs: '/other', compatPerf: true, buildIdDir: '/sysroot/.debug' })).toBe('cachedThere');
  });

  it.each([{ compatPerf: false }, { compatPerf: true }])('says nothing about another file of this machine if symfs has the binary: %j', async (options) => {
    files.content.set(`/sysroot${PATH}`, stripped());
    files.content.set(PATH, elf('fromHere', { buildId: OTHER_ID }));
    expect(await nameOf({}, { symfs: '/sysroot', ...options })).toBeUndefined();
    expect(diagnostics.list()).toEqual([]);
  });

  it('searches symfs first, and this machine only with a build id to check', async () => {
    files.content.set(PATH, elf('fromHere'));
    expect(await nameOf({}, { symfs: '/sysroot' })).toBe('fromHere');
    expect(await nameOf({ buildId: '' }, { symfs: '/sysroot' })).toBeUndefined();
    files.content.set(`/sysroot${PATH}`, elf('fromSymfs'));
    expect(await nameOf({ buildId: '' }, { symfs: '/sysroot' })).toBe('fromSymfs');
    expect(await nameOf({}, { symfs: '/sysroot' })).toBe('fromSymfs');
  });

  it.each(['/../etc/server', '/opt/../../etc/server', '/..', '../etc/server', '__proto__', 'server', '', '/opt/..\\..\\server'])(
    'does not leave symfs for a file that a recording calls %j',
    async (name) => {
      const asked: string[] = [];
      files.open = async (path) => {
        asked.push(path);
        return undefined;
      };
      await nameOf({ name }, { symfs: '/sysroot' });
      await nameOf({ name, buildId: '' }, { symfs: '/sysroot' });
      // It is looked for by build id there, whatever its name.
      expect(asked.filter((path) => path.startsWith('/sysroot') && !path.startsWith('/sysroot/usr/lib/debug/.build-id/aa/'))).toEqual([]);
    },
  );

  it('reports a damaged file and continues', async () => {
    files.content.set('/usr/lib/debug/opt/app/bin/server', elf('cut').subarray(0, 20));
    files.content.set('/opt/app/bin/.debug/server', elf('fromDebug', { isDebugFile: true }));
    files.content.set(PATH, stripped());
    expect(await nameOf({})).toBe('fromDebug');
    expect(diagnostics.count('symbol-file-damaged')).toBe(1);
  });

  it('keeps the names of symbols if debug information cannot be read, with a report', async () => {
    const link = Buffer.from('../.dwz/server\0link');
    const bytes = elf('kept', {
      moreSections: [
        { name: '.debug_info', content: new Uint8Array(64) },
        { name: '.gnu_debugaltlink', content: link },
      ],
    });
    files.content.set(PATH, bytes);
    const badAt = bytes.indexOf(link);
    const open = files.open.bind(files);
    files.open = async (path) => {
      const source = await open(path);
      const readAt = source?.readAt.bind(source);
      if (source === undefined || readAt === undefined) return undefined;
      source.readAt = async (position, target) => {
        if (position <= badAt && badAt < position + target.length) throw new PerfconvError('io', 'input/output error', { file: path, offset: position });
        return readAt(position, target);
      };
      return source;
    };
    const search = new SymbolSearch();
    const symbols = await symbolizer().symbolsFor({ name: PATH, kind: 'file', buildId: ID, osRelease: '' }, { lines: true, search });
    expect(symbols?.table?.name(symbols.table.find(TEXT.offset))).toBe('kept');
    expect(symbols?.lines).toBeUndefined();
    expect(diagnostics.list()).toMatchObject([
      { code: 'debug-info-damaged', severity: 'warning', message: `${PATH}: at 0x${badAt.toString(16)}: input/output error` },
    ]);
    expect(search.places).toMatchObject([{ place: PATH, uses: ['addresses', 'symbols'], detail: expect.stringContaining('input/output error') }]);
    expect(files.openCount).toBe(0);
  });

  it('asks for no path that is made from an invalid build id', async () => {
    await nameOf({ buildId: '../../etc' });
    await nameOf({ buildId: '0000000000000000' });
    expect(files.asked.filter((path) => path.includes('.build-id'))).toEqual([]);
  });

  it('is silent about anonymous memory', async () => {
    expect(await nameOf({ kind: 'anon', name: '//anon' })).toBeUndefined();
    expect(diagnostics.list()).toEqual([]);
    expect(files.asked).toEqual([]);
  });
});

describe('the vdso', () => {
  const vdso = { name: '[vdso]', kind: 'vdso' } as const;

  it('comes from the build-id cache', async () => {
    files.content.set('/home/u/.debug/.build-id/aa/11111111111111111111111111111111111111/vdso', elf('__vdso_time'));
    expect(await nameOf(vdso)).toBe('__vdso_time');
  });

  it('tells where its functions begin, as a handler returns to the first byte of one', async () => {
    files.content.set('/home/u/.debug/.build-id/aa/11111111111111111111111111111111111111/vdso', elf('__vdso_time'));
    const object: CodeObject = { ...vdso, buildId: ID, osRelease: '' };
    const found = await symbolizer().forRecording({}).symbolsFor(object, { lines: false, starts: true });
    expect(await found?.functionStarts?.(Float64Array.of(TEXT.offset))).toEqual(Float64Array.of(-1));
    await found?.close?.();
  });

  it('is that of this process only if it is the same', async () => {
    files.vdso = elf('__vdso_own');
    expect(await nameOf(vdso)).toBe('__vdso_own');
    files.vdso = elf('__vdso_own', { buildId: OTHER_ID });
    expect(await nameOf(vdso)).toBeUndefined();
    files.kernel = { osRelease: '6.1.0', buildId: '' };
    expect(await nameOf({ ...vdso, buildId: '', osRelease: '6.1.0' })).toBe('__vdso_own');
    expect(await nameOf({ ...vdso, buildId: '', osRelease: '5.10.0' })).toBeUndefined();
    expect(await nameOf({ ...vdso, buildId: '' })).toBeUndefined();
  });
});

describe('the kernel', () => {
  const text = -0x7f000000;
  const kernel = {
    name: '[kernel.kallsyms]',
    kind: 'kernel',
    buildId: KERNEL_ID,
    osRelease: '6.1.0',
    referenceSymbol: '_text',
    referenceAddress: text,
  } as const;
  const module = { name: '[nf_tables]', kind: 'module', buildId: '', osRelease: '6.1.0' } as const;
  const list = (name: string, base = 'ffffffff81000000'): Uint8Array =>
    new TextEncoder().encode(
      `${base} T _text\n${base.slice(0, -3)}100 t ${name}\nffffffffc0000000 t nft_init\t[nf_tables]\nffffffffc0008000 t bpf_prog_1_x\t[bpf]\n`,
    );
  const CACHED = '/home/u/.debug/.build-id/cc/33333333333333333333333333333333333333/kallsyms';
  const LIVE = '/proc/kallsyms';

  it("gets its names from the recording's own list rather than from those of this machine", async () => {
    files.kernel = { osRelease: '6.1.0', buildId: KERNEL_ID };
    files.content.set(LIVE, list('live'));
    files.content.set(CACHED, list('cached'));
    const kcoreDir = '/recordings/web.data/kcore_dir';
    expect(await nameOf(kernel, {}, text + 0x100, { kcoreDir })).toBe('cached');
    files.content.set(`${kcoreDir}/kallsyms`, list('recorded'));
    files.content.set(`${kcoreDir}/kcore`, new Uint8Array(1));
    expect(await nameOf(kernel, {}, text + 0x100, { kcoreDir })).toBe('recorded');
    expect(files.asked).not.toContain(`${kcoreDir}/kcore`);
    files.content.set('/given', list('given'));
    expect(await nameOf(kernel, { kallsyms: '/given' }, text + 0x100, { kcoreDir })).toBe('given');
  });

  it('gets no names from a list larger than any real one', async () => {
    const symbols = list('recorded');
    files.content.set('/huge/kallsyms', symbols);
    const open = files.open.bind(files);
    files.open = async (path) => {
      const source = await open(path);
      if (source !== undefined) Object.defineProperty(source, 'sizeBytes', { value: 2 ** 40 });
      return source;
    };
    expect(await nameOf(kernel, {}, text + 0x100, { kcoreDir: '/huge' })).toBeUndefined();
    expect(diagnostics.count('symbol-file-damaged')).toBe(1);
    expect(files.openCount).toBe(0);
  });

  it('gets its names from the given file, else the build-id cache, else the running kernel', async () => {
    files.kernel = { osRelease: '6.1.0', buildId: KERNEL_ID };
    files.content.set(LIVE, list('live'));
    expect(await nameOf(kernel, {}, text + 0x100)).toBe('live');
    files.content.set(CACHED, list('cached'));
    expect(await nameOf(kernel, {}, text + 0x100)).toBe('cached');
    files.content.set('/given', list('given'));
    expect(await nameOf(kernel, { kallsyms: '/given' }, text + 0x100)).toBe('given');
    expect(await nameOf(kernel, { kallsyms: '/missing' }, text + 0x100)).toBeUndefined();
    expect(diagnostics.list()).toEqual([]);
  });

  it('is the running one by build id, or by release if an id is unknown', async () => {
    files.content.set(LIVE, list('live'));
    files.kernel = { osRelease: '6.1.0', buildId: OTHER_ID };
    expect(await nameOf(kernel, {}, text + 0x100)).toBeUndefined();
    expect(await nameOf({ ...kernel, buildId: '' }, {}, text + 0x100)).toBe('live');
    expect(await nameOf({ ...kernel, buildId: '', osRelease: '5.10.0' }, {}, text + 0x100)).toBeUndefined();
    expect(await nameOf({ ...kernel, buildId: '', osRelease: '' }, {}, text + 0x100)).toBeUndefined();
    files.kernel = undefined;
    expect(await nameOf(kernel, {}, text + 0x100)).toBeUndefined();
  });

  it('is moved as far as the reference symbol moved, and then modules are not named', async () => {
    files.content.set('/given', list('moved', 'ffffffff9a000000'));
    const symbols = symbolizer({ kallsyms: '/given' });
    const table = (await symbols.symbolsFor(kernel))!.table!;
    expect(table.name(table.find(text + 0x100))).toBe('moved');
    expect(table.start(table.find(text + 0x180))).toBe(text + 0x100);
    expect(await symbols.symbolsFor(module)).toBeUndefined();
  });

  it('of another boot is moved as far as its own reference symbol moved, and its modules are not named', async () => {
    files.content.set('/given', list('moved'));
    const symbols = symbolizer({ kallsyms: '/given' });
    for (const shift of [0, 0x1800_0000, 0x200_0000, 0x1800_0000]) {
      const other = { ...kernel, referenceAddress: text + shift };
      const table = (await symbols.symbolsFor(other))!.table!;
      expect(table.start(table.find(other.referenceAddress + 0x180))).toBe(other.referenceAddress + 0x100);
      // Modules are elsewhere in that boot: the list tells only about its own.
      expect((await symbols.symbolsFor(module)) === undefined).toBe(shift !== 0);
    }
    expect(files.asked.filter((path) => path === '/given')).toHaveLength(1);
  });

  it('gets no names from a list without the reference symbol', async () => {
    files.content.set('/given', list('other'));
    expect(await nameOf({ ...kernel, referenceSymbol: '_other' }, { kallsyms: '/given' }, text + 0x100)).toBeUndefined();
    expect(diagnostics.count('kallsyms-mismatch')).toBe(1);
  });

  it('gets no names from a list without addresses, which is reported', async () => {
    files.content.set('/given', new TextEncoder().encode('0000000000000000 T _text\n0000000000000000 t do_one\n'));
    expect(await nameOf(kernel, { kallsyms: '/given' }, text + 0x100)).toBeUndefined();
    expect(diagnostics.list().map(({ code }) => code)).toEqual(['kallsyms-hidden']);
  });

  it('has modules and generated code, from one reading of the list', async () => {
    files.content.set('/given', list('given'));
    const symbols = symbolizer({ kallsyms: '/given' });
    expect(await symbols.symbolsFor({ ...module, name: '[nf_tables]' })).toBeDefined();
    await symbols.symbolsFor(kernel);
    for (const name of ['[nf_tables]', '/lib/modules/6.1.0/kernel/net/netfilter/nf-tables.ko.xz']) {
      const table = (await symbols.symbolsFor({ ...module, name }))!.table!;
      expect(table.name(table.find(-0x40000000 + 8))).toBe('nft_init');
    }
    const bpf = (await symbols.symbolsFor({ ...module, name: 'bpf_prog_1_x' }))!.table!;
    expect(bpf.name(bpf.find(-0x40000000 + 0x8000))).toBe('bpf_prog_1_x');
    expect(await symbols.symbolsFor({ ...module, name: '[xfs]' })).toBeUndefined();
    expect(files.asked.filter((path) => path === '/given')).toHaveLength(1);
  });
});
