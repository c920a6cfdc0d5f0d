import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { SymbolSearch } from '../../../src/symbolizer/inputs/search-log.ts';
import type { RecordedKernel } from '../../../src/symbolizer/kernel/kernel-identity.ts';
import { type KernelPlaces, KernelSymbols, type MappedModule } from '../../../src/symbolizer/kernel/kernel-symbols.ts';
import { CheckedFiles } from '../../../src/symbolizer/search/checked-files.ts';
import { ByteFields } from '../../support/builders/byte-fields.ts';
import { buildElf, type ElfPlan, TEXT } from '../../support/builders/elf/elf-builder.ts';
import { buildSectionElf } from '../../support/builders/elf/section-elf.ts';
import { ServedFiles } from '../../support/programs/served-symbol-files.ts';

const ID = 'cc33333333333333333333333333333333333333';
const OTHER_ID = 'bb22222222222222222222222222222222222222';
const RUN_TIME_TEXT = -0x7f000000;
const KERNEL: RecordedKernel = { buildId: ID, osRelease: '6.1.0', referenceSymbol: '_text', referenceAddress: RUN_TIME_TEXT };
const LIVE = '/proc/kallsyms';
const OLD_CACHE = '/home/u/.debug/.build-id/cc/33333333333333333333333333333333333333';
const RELEASED = '/usr/lib/debug/boot/vmlinux-6.1.0';

let files: ServedFiles;
let diagnostics: Diagnostics;
let search: SymbolSearch;
beforeEach(() => {
  files = new ServedFiles();
  diagnostics = new Diagnostics();
  search = new SymbolSearch();
});

/** A vmlinux with `_text` at its start, followed by that function. */
function vmlinux(name: string, more: Partial<ElfPlan> = {}): Buffer {
  const symbols = [
    { name: '_text', value: TEXT.vaddr, type: 0, sizeBytes: 0 },
    { name, value: TEXT.vaddr + 0x100, sizeBytes: 0x40 },
    { name: '_etext', value: TEXT.vaddr + TEXT.sizeBytes, type: 0 },
  ];
  return buildElf({ classBits: 64, littleEndian: true, buildId: ID, symbols, ...more });
}

/** The file of a module whose only function is at an offset in its code. */
function moduleFile(name: string, offset: number, buildId?: string): Buffer {
  const symbol = new ByteFields().u32(1).bytes(0x12, 0).u16(1).uint(offset, 8).uint(0x20, 8).done();
  const sections = [
    { name: '.text', flags: 6, content: new Uint8Array(0x100) },
    { name: '.symtab', type: 2, link: 3, entsize: 24, content: Buffer.concat([new Uint8Array(24), symbol]) },
    { name: '.strtab', type: 3, content: new TextEncoder().encode(`\0${name}\0`) },
    ...(buildId === undefined
      ? []
      : [{ name: '.note.gnu.build-id', type: 7, content: new ByteFields().u32(4, 20, 3).text('GNU').put(Buffer.from(buildId, 'hex')).done() }]),
  ];
  return Buffer.from(buildSectionElf({ type: 1, sections }));
}

function list(name: string, text = 'ffffffff81000000', module = 'ffffffffc0000000'): Uint8Array {
  return new TextEncoder().encode(`${text} T _text\n${text.slice(0, -3)}100 t ${name}\n${module} t nft_init\t[nf_tables]\n`);
}

const symbolsOf = (places: Partial<KernelPlaces>): KernelSymbols =>
  new KernelSymbols(files, { debugDirs: ['/usr/lib/debug'], buildIdDir: '/home/u/.debug', compatPerf: false, ...places }, diagnostics);

async function asked<T>(ask: (checked: CheckedFiles) => Promise<T>): Promise<T> {
  const checked = new CheckedFiles(files, search, diagnostics);
  const answer = await ask(checked);
  await checked.close();
  expect(files.openCount).toBe(0);
  return answer;
}

async function nameOf(kernel: RecordedKernel, places: Partial<KernelPlaces> = {}, address = RUN_TIME_TEXT + 0x100): Promise<string | undefined> {
  const table = (await asked((checked) => symbolsOf(places).kernel(kernel, false, checked)))?.table;
  const index = table?.find(address) ?? -1;
  return index < 0 ? undefined : table!.name(index);
}

const outcomeAt = (path: string) => search.places.find(({ place }) => place === path);

describe('a vmlinux', () => {
  it.each([
    OLD_CACHE,
    `${OLD_CACHE}/elf`,
    `${OLD_CACHE}/vmlinux`,
    'vmlinux',
    '/boot/vmlinux',
    '/boot/vmlinux-6.1.0',
    RELEASED,
    '/lib/modules/6.1.0/build/vmlinux',
    '/usr/lib/debug/lib/modules/6.1.0/vmlinux',
    '/usr/lib/debug/boot/vmlinux-6.1.0.debug',
    '/usr/lib/debug/.build-id/cc/33333333333333333333333333333333333333.debug',
  ])('at %s names the kernel before any list of this machine', async (place) => {
    files.kernel = { osRelease: '6.1.0', buildId: ID };
    files.content.set(LIVE, list('live'));
    files.content.set(place, vmlinux('linked', { isDebugFile: place.endsWith('.debug') }));
    expect(await nameOf(KERNEL)).toBe('linked');
    expect(outcomeAt(place)).toMatchObject({ outcome: 'fits', uses: ['symbols'] });
  });

  it('is moved to where the kernel ran, and its ends of sections do not count as functions', async () => {
    files.content.set(RELEASED, vmlinux('linked'));
    expect(await nameOf(KERNEL, {}, RUN_TIME_TEXT)).toBe('_text');
    expect(await nameOf(KERNEL, {}, RUN_TIME_TEXT + 0xff)).toBe('_text');
    expect(await nameOf(KERNEL, {}, RUN_TIME_TEXT + 0x13f)).toBe('linked');
    expect(await nameOf(KERNEL, {}, RUN_TIME_TEXT + TEXT.sizeBytes)).toBeUndefined();
    expect(await nameOf({ ...KERNEL, referenceAddress: RUN_TIME_TEXT + 0x1a000000 }, {}, RUN_TIME_TEXT + 0x1a000100)).toBe('linked');
  });

  it('of another build is refused with a report; the list is used instead', async () => {
    files.kernel = { osRelease: '6.1.0', buildId: ID };
    files.content.set(LIVE, list('live'));
    files.content.set(RELEASED, vmlinux('wrong', { buildId: OTHER_ID }));
    expect(await nameOf(KERNEL)).toBe('live');
    expect(outcomeAt(RELEASED)).toMatchObject({ outcome: 'other-build-id', uses: [] });
    expect(await nameOf(KERNEL, { vmlinux: RELEASED })).toBe('live');
    expect(diagnostics.count('build-id-mismatch')).toBe(2);
  });

  it('is used without a build id only if its path tells the release', async () => {
    const unknown = { ...KERNEL, buildId: '' };
    files.content.set('vmlinux', vmlinux('here'));
    files.content.set('/boot/vmlinux', vmlinux('booted'));
    expect(await nameOf(unknown)).toBeUndefined();
    expect(await nameOf(unknown, { vmlinux: 'vmlinux' })).toBe('here');
    files.content.set('/boot/vmlinux-6.1.0', vmlinux('released'));
    expect(await nameOf(unknown)).toBe('released');
    // With symfs, the files of this machine do not count.
    expect(await nameOf(unknown, { symfs: '/mnt/target' })).toBeUndefined();
    files.content.set('/mnt/target/boot/vmlinux-6.1.0', vmlinux('target'));
    expect(await nameOf(unknown, { symfs: '/mnt/target' })).toBe('target');
  });

  it('that lacks the recorded symbol is refused', async () => {
    files.content.set(RELEASED, vmlinux('linked'));
    expect(await nameOf({ ...KERNEL, referenceSymbol: '_other' })).toBeUndefined();
    expect(search.places.map(({ detail }) => detail)).toContain('it has no symbol _other');
  });

  it('is used only if no list was given or recorded', async () => {
    files.content.set(RELEASED, vmlinux('linked'));
    files.content.set('/given', list('given'));
    files.content.set('/recording/kcore_dir/kallsyms', list('recorded'));
    expect(await nameOf(KERNEL, { kallsyms: '/given', vmlinux: RELEASED })).toBe('given');
    expect(await nameOf(KERNEL, { kcoreDir: '/recording/kcore_dir' })).toBe('recorded');
    expect(await nameOf(KERNEL, { kallsyms: '/missing' })).toBe('linked');
  });

  it('is not looked for if the release is a path', async () => {
    for (const osRelease of ['../../etc', 'a/b', '..', '']) await nameOf({ ...KERNEL, osRelease });
    expect(files.asked.filter((path) => /etc|a\/b|\.\./.test(path))).toEqual([]);
  });
});

describe('symbol lists', () => {
  it.each([
    [{ osRelease: '6.1.0', buildId: OTHER_ID }, `its build id is ${OTHER_ID}, but the recording has ${ID}`],
    [{ osRelease: '5.10.0', buildId: ID }, 'it is Linux 5.10.0, but the recording is from 6.1.0'],
    [undefined, 'this machine does not run Linux'],
  ])('of another running kernel %o are skipped with the reason', async (kernel, why) => {
    files.kernel = kernel;
    files.content.set(LIVE, list('live'));
    expect(await nameOf(KERNEL)).toBeUndefined();
    expect(outcomeAt(LIVE)).toMatchObject({ outcome: 'skipped', detail: why });
    expect(files.asked).not.toContain(LIVE);
  });

  it('of the running kernel are not used with compatPerf and a symfs', async () => {
    files.kernel = { osRelease: '6.1.0', buildId: ID };
    files.content.set(LIVE, list('live'));
    expect(await nameOf(KERNEL, { compatPerf: true, symfs: '/mnt' })).toBeUndefined();
    expect(outcomeAt(LIVE)).toMatchObject({ outcome: 'skipped', detail: expect.stringMatching(/^perf does not use it/) });
    expect(await nameOf(KERNEL, { symfs: '/mnt' })).toBe('live');
    expect(await nameOf(KERNEL, { compatPerf: true })).toBe('live');
    files.content.set('/mnt/boot/vmlinux-6.1.0', vmlinux('there'));
    expect(await nameOf(KERNEL, { compatPerf: true, symfs: '/mnt' })).toBe('there');
  });

  it('are also found in the build-id cache of old perf versions, where the build id is a link to them', async () => {
    files.content.set(OLD_CACHE, list('cached'));
    expect(await nameOf(KERNEL)).toBe('cached');
    expect(search.places.filter(({ place }) => place === OLD_CACHE)).toMatchObject([{ outcome: 'fits', uses: ['symbols'] }]);
    expect(diagnostics.list()).toEqual([]);
  });

  it('are not read from a vmlinux in the build-id cache of old perf versions', async () => {
    files.content.set(OLD_CACHE, vmlinux('linked', { isDebugFile: true }));
    expect(await nameOf(KERNEL)).toBe('linked');
    files.content.set(OLD_CACHE, vmlinux('linked', { symbols: [] }));
    expect(await nameOf({ ...KERNEL, referenceSymbol: '_other' })).toBeUndefined();
    expect(diagnostics.list()).toEqual([]);
  });

  it('that hide some addresses name the others, with a single report', async () => {
    files.content.set('/given', new TextEncoder().encode(`0000000000000000 t hidden\n${new TextDecoder().decode(list('given'))}`));
    const symbols = symbolsOf({ kallsyms: '/given' });
    await asked((checked) => symbols.kernel(KERNEL, false, checked));
    await asked((checked) => symbols.module({ name: '[nf_tables]', longName: '[nf_tables]', buildId: '', osRelease: '6.1.0' }, false, checked));
    expect(await nameOf(KERNEL, {}, RUN_TIME_TEXT + 0x100)).toBeUndefined();
    expect(diagnostics.list()).toMatchObject([
      { code: 'kallsyms-hidden', count: 1, message: expect.stringContaining('hides the addresses of 1 function from') },
    ]);
  });
});

describe('of several lists that were named', () => {
  const chosen = async (paths: readonly string[], kernel = KERNEL): Promise<[string | undefined, string[]]> => {
    const name = await nameOf(kernel, { kallsyms: paths }, (kernel.referenceAddress ?? RUN_TIME_TEXT) + 0x100);
    return [name, diagnostics.list().map(({ message, severity }) => `${severity}: ${message}`)];
  };

  it('the one with the recorded address is used, wherever it is among them', async () => {
    files.content.set('/a/kallsyms', list('sameBoot'));
    files.content.set('/b/kallsyms', list('otherBoot', 'ffffffff91000000'));
    files.content.set('/c/kallsyms', new TextEncoder().encode('ffffffff81000000 T _start\n'));
    for (const paths of [
      ['/a/kallsyms', '/b/kallsyms', '/c/kallsyms'],
      ['/c/kallsyms', '/b/kallsyms', '/a/kallsyms'],
    ]) {
      diagnostics = new Diagnostics();
      expect(await chosen(paths)).toEqual(['sameBoot', ['info: of 3 lists of kernel symbols, /a/kallsyms is used: its _text is where it was recorded']]);
    }
  });

  it('the one with the recorded build id in its path is used, as in perf’s cache', async () => {
    const path = `/debug/[kernel.kallsyms]/${ID}/kallsyms`;
    files.content.set(path, list('cached', 'ffffffff91000000'));
    files.content.set('/b/kallsyms', list('other'));
    expect(await chosen([path, '/b/kallsyms'])).toEqual(['cached', [expect.stringContaining(`${path} is used: the recorded build id is in its path`)]]);
  });

  it('the one with the recorded release in its path is used if addresses do not tell them apart', async () => {
    files.content.set('/kallsyms-6.1.0', list('released'));
    files.content.set('/kallsyms-5.10.0', list('other'));
    expect(await chosen(['/kallsyms-6.1.0', '/kallsyms-5.10.0'])).toEqual(['released', [expect.stringContaining('the recorded release is in its path')]]);
  });

  it('a longer release in its path, which has the recorded one in it, shows nothing', async () => {
    for (const other of ['6.1.0-13', '6.1.0.1', '16.1.0', '5.6.1.0']) {
      files.content.set(`/kallsyms-${other}`, list('other'));
      for (const right of ['/kallsyms-6.1.0.gz', '/kallsyms.6.1.0', '/6.1.0/kallsyms']) {
        files.content.set(right, list('released'));
        expect((await chosen([right, `/kallsyms-${other}`]))[0]).toBe('released');
      }
    }
  });

  it('the only one that can be of the recorded kernel is used', async () => {
    files.content.set('/a', list('given', 'ffffffff91000000'));
    files.content.set('/b', new TextEncoder().encode('ffffffff81000000 T _start\n'));
    expect(await chosen(['/a', '/b'])).toEqual(['given', ['info: of 2 lists of kernel symbols, /a is used: it is the only one of the recorded kernel']]);
    diagnostics = new Diagnostics();
    files.content.set('/c', new TextEncoder().encode('ffffffff82000000 T _start\n'));
    expect(await chosen(['/b', '/c'])).toEqual([undefined, ['warning: none of 2 lists of kernel symbols is from the recorded kernel']]);
  });

  it('equal ones count once', async () => {
    files.content.set('/a', list('given'));
    files.content.set('/b', list('given'));
    expect(await chosen(['/a', '/b'])).toEqual(['given', []]);
    files.content.set('/c', list('other', 'ffffffff91000000'));
    expect(await chosen(['/a', '/c', '/b'])).toEqual(['given', ['info: of 2 lists of kernel symbols, /b is used: its _text is where it was recorded']]);
  });

  it('those that are missing do not count', async () => {
    files.content.set('/b', new TextEncoder().encode('ffffffff81000000 T _start\n'));
    expect(await chosen(['/none', '/nor'])).toEqual([undefined, []]);
    expect(await chosen(['/none', '/b'])).toEqual([undefined, ['warning: /b is not from the recorded kernel: it has no symbol _text']]);
  });

  it('the last one is used if nothing tells them apart, with a warning', async () => {
    files.content.set('/a', list('first'));
    files.content.set('/b', list('last'));
    expect(await chosen(['/a', '/b'])).toEqual([
      'last',
      ['warning: of 2 lists of kernel symbols, /b is used: it is the last of 2 that may be of the recorded kernel; give only the right one'],
    ]);
  });
});

describe('of several vmlinux that were named', () => {
  const chosen = async (kernel = KERNEL, names = ['/a', '/b']): Promise<[string | undefined, string[]]> => {
    const name = await nameOf(kernel, { vmlinux: names });
    return [name, diagnostics.list().map(({ message, severity }) => `${severity}: ${message}`)];
  };

  it('the one with the recorded build id is used', async () => {
    files.content.set('/a', vmlinux('right'));
    files.content.set('/b', vmlinux('wrong', { buildId: OTHER_ID }));
    expect(await chosen()).toEqual(['right', ['info: of 2 vmlinux files, /a is used: it is the only one of the recorded kernel']]);
    diagnostics = new Diagnostics();
    files.content.set('/a', vmlinux('wrong', { buildId: OTHER_ID }));
    expect(await chosen()).toEqual([undefined, [`warning: none of 2 vmlinux files is the recorded kernel, ${ID}`]]);
  });

  it('those that are missing do not count', async () => {
    files.content.set('/b', vmlinux('wrong', { buildId: OTHER_ID }));
    expect(await chosen(KERNEL, ['/none', '/nor'])).toEqual([undefined, []]);
    expect(await chosen(KERNEL, ['/none', '/b'])).toEqual([undefined, [`warning: /b is not the recorded kernel, ${ID}`]]);
    diagnostics = new Diagnostics();
    files.content.set('/a', vmlinux('right'));
    expect(await chosen(KERNEL, ['/none', '/a'])).toEqual(['right', []]);
  });

  it('the last one is used if nothing tells them apart, with a warning unless they are copies', async () => {
    files.content.set('/a', vmlinux('first'));
    files.content.set('/b', vmlinux('last'));
    expect(await chosen()).toEqual(['last', ['info: of 2 vmlinux files, /b is used: it is the last one of the recorded kernel']]);
    diagnostics = new Diagnostics();
    expect(await chosen({ ...KERNEL, buildId: '' })).toEqual(['last', [expect.stringMatching(/^warning: .*it is the last of 2 that may be/)]]);
    diagnostics = new Diagnostics();
    files.content.set('/boot/vmlinux-6.1.0', vmlinux('released'));
    expect(await chosen({ ...KERNEL, buildId: '' }, ['/boot/vmlinux-6.1.0', '/a'])).toEqual(['released', [expect.stringContaining('release is in its path')]]);
  });

  it('the one with debug information is used of copies of the right one, whatever the path of the other', async () => {
    files.content.set('/boot/vmlinux-6.1.0', vmlinux('stripped'));
    files.content.set('/usr/lib/debug/full', vmlinux('full', { moreSections: [{ name: '.debug_info', content: new Uint8Array(1) }] }));
    expect(await chosen(KERNEL, ['/usr/lib/debug/full', '/boot/vmlinux-6.1.0'])).toEqual(['full', [expect.stringContaining('it has debug information')]]);
  });
});

describe('modules of another boot', () => {
  const module: MappedModule = { name: '[nf_tables]', longName: '[nf_tables]', buildId: '', osRelease: '6.1.0', start: -0x3f000000 };
  const nameIn = async (places: Partial<KernelPlaces>, address: number, mapped = module): Promise<string | undefined> => {
    const symbols = symbolsOf(places);
    await asked((checked) => symbols.kernel({ ...KERNEL, referenceAddress: RUN_TIME_TEXT + 0x1000000 }, false, checked));
    const table = (await asked((checked) => symbols.module(mapped, false, checked)))?.table;
    const index = table?.find(address) ?? -1;
    return index < 0 ? undefined : table!.name(index);
  };

  it('are named if the list of modules tells where they were', async () => {
    files.content.set('/copy/kallsyms', list('given', 'ffffffff81000000', 'ffffffffc0000040'));
    expect(await nameIn({ kallsyms: '/copy/kallsyms' }, -0x3f000000 + 0x44)).toBeUndefined();
    files.content.set('/copy/modules', new TextEncoder().encode('nf_tables 311296 0 - Live 0xffffffffc0000000 (E)\n'));
    expect(await nameIn({ kallsyms: '/copy/kallsyms' }, -0x3f000000 + 0x44)).toBe('nft_init');
    expect(await nameIn({ kallsyms: '/copy/kallsyms' }, -0x40000000 + 0x44)).toBeUndefined();
    files.content.set('/copy/modules', new TextEncoder().encode('nf_tables 311296 0 - Live 0x0000000000000000\n'));
    expect(await nameIn({ kallsyms: '/copy/kallsyms' }, -0x3f000000 + 0x44)).toBeUndefined();
  });

  it('are named by their file, from where the recording has them, if no list does', async () => {
    const path = '/lib/modules/6.1.0/kernel/net/nf_tables.ko';
    files.content.set(path, moduleFile('nft_do_chain', 0x40));
    expect(await nameIn({}, -0x3f000000 + 0x44, { ...module, longName: path })).toBe('nft_do_chain');
    expect(outcomeAt(path)).toMatchObject({ outcome: 'fits', uses: ['symbols'] });
    const { start: _, ...elsewhere } = module;
    expect(await nameIn({}, -0x3f000000 + 0x44, { ...elsewhere, longName: path })).toBeUndefined();
  });
});

describe('servers', () => {
  const debuginfo = () => vmlinux('served', { isDebugFile: true });

  it('are asked for a vmlinux only if nothing on this machine names the kernel', async () => {
    files.served.set('debuginfo', debuginfo());
    files.kernel = { osRelease: '6.1.0', buildId: ID };
    files.content.set(LIVE, list('live'));
    expect(await nameOf(KERNEL)).toBe('live');
    expect(files.fetched).toEqual([]);
    files.kernel = undefined;
    expect(await nameOf({ ...KERNEL, referenceAddress: RUN_TIME_TEXT + 0x1a000000 }, {}, RUN_TIME_TEXT + 0x1a000100)).toBe('served');
    expect(files.fetched).toEqual(['debuginfo']);
    expect(outcomeAt('/cache/debuginfo')).toMatchObject({ outcome: 'fits', uses: ['symbols'] });
  });

  it('are not asked if a list or a vmlinux was named, without a build id, or with compatPerf', async () => {
    files.served.set('debuginfo', debuginfo());
    for (const places of [{ kallsyms: '/missing' }, { vmlinux: '/missing' }, { compatPerf: true }, {}]) {
      await nameOf(KERNEL, places);
      expect(search.mayAskServers).toBe(Object.keys(places).length === 0);
    }
    await nameOf(KERNEL, { kallsyms: [], vmlinux: [] });
    expect(search.mayAskServers).toBe(true);
    files.fetched.length = 0;
    files.content.set('/given', list('given', 'ffffffff81000000'));
    expect(await nameOf({ ...KERNEL, referenceSymbol: '_other' }, { kallsyms: '/given' })).toBeUndefined();
    expect(await nameOf(KERNEL, { vmlinux: '/absent' })).toBeUndefined();
    expect(await nameOf({ ...KERNEL, buildId: '' })).toBeUndefined();
    expect(await nameOf(KERNEL, { compatPerf: true })).toBeUndefined();
    expect(files.fetched).toEqual([]);
  });

  it('are asked for the binary if what they have for the debug information has no symbols, or not the recorded one', async () => {
    files.served.set('debuginfo', vmlinux('', { symbols: [] }));
    files.served.set('executable', vmlinux('linked'));
    expect(await nameOf(KERNEL)).toBe('linked');
    files.served.set('debuginfo', vmlinux('', { symbols: [{ name: 'other', value: TEXT.vaddr }] }));
    expect(await nameOf(KERNEL)).toBe('linked');
    expect(outcomeAt('/cache/debuginfo (relocation)')).toMatchObject({ detail: 'it has no symbol _text' });
    expect(files.fetched).toEqual(['debuginfo', 'executable', 'debuginfo', 'executable']);
  });

  it('that have no vmlinux do not have the one of this machine read again', async () => {
    files.content.set(RELEASED, vmlinux('', { symbols: [] }));
    const reads = vi.spyOn(BufferSource.prototype, 'readAt');
    const countReads = async (places: Partial<KernelPlaces>): Promise<number> => {
      reads.mockClear();
      expect(await nameOf({ buildId: ID, osRelease: '6.1.0' }, places)).toBeUndefined();
      return reads.mock.contexts.filter((source) => (source as BufferSource).name === RELEASED).length;
    };
    const unasked = await countReads({ vmlinux: RELEASED });
    expect(await countReads({})).toBe(unasked);
    expect(files.fetched).toEqual(['debuginfo', 'executable']);
    reads.mockRestore();
  });

  it('are asked for a module that neither a list nor a file names', async () => {
    const module: MappedModule = { name: '[nf_tables]', buildId: ID, osRelease: '6.1.0', start: -0x3f000000, kernel: { buildId: '' } };
    const ask = async (places: Partial<KernelPlaces> = {}, wantsLines = false): Promise<string | undefined> => {
      const table = (await asked((checked) => symbolsOf(places).module(module, wantsLines, checked)))?.table;
      return table?.name(table.find(-0x3f000000 + 0x44));
    };
    const built = (name: string): Buffer => moduleFile(name, 0x40, ID);
    files.served.set('debuginfo', built('served'));
    expect(await ask({ compatPerf: true })).toBeUndefined();
    expect(files.fetched).toEqual([]);
    expect(await ask()).toBe('served');
    expect(files.fetched).toEqual(['debuginfo']);
    files.content.set('/usr/lib/debug/.build-id/cc/33333333333333333333333333333333333333.debug', built('installed'));
    for (const wantsLines of [false, true]) expect(await ask({}, wantsLines)).toBe('installed');
    expect(files.fetched).toEqual(['debuginfo']);
  });
});
