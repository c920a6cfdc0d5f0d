import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { NodeSymbolFiles } from '../../../src/host/symbols/symbol-files.ts';
import type { CodeSymbols } from '../../../src/symbol-table/code-symbols.ts';
import { type CodeObject, Symbolizer, type SymbolizerOptions } from '../../../src/symbolizer/symbolizer.ts';
import { askPerf, hasPerf, runs } from '../../support/perf/perf-oracle.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';

const canBuild = runs('gcc', ['--version']) && process.arch === 'x64';
const hasAddr2line = runs('addr2line', ['--version']);
if (!canBuild) announceSkipped('kernels and modules of our own', 'there is no gcc for x86-64');
if (!hasPerf) announceSkipped('comparison of kernels of our own with perf', 'perf does not run here');
if (!hasAddr2line) announceSkipped('lines of kernels of our own', 'addr2line is not installed');

const LINKED_TEXT = 0xffff_ffff_8100_0000n;
const SHIFT = 0x1a00_0000n;
const TEXT = LINKED_TEXT + SHIFT;
const RELEASE = '6.1.0-made';

const KERNEL_SOURCE = `
__asm__(".pushsection .text\\n.globl _text\\n_text:\\n.globl startup_64\\nstartup_64: .fill 64,1,0x90\\n.globl __nop_label\\n__nop_label: .fill 32,1,0x90\\n.popsection\\n");
static inline __attribute__((always_inline)) int twice(int a) { __asm__ volatile("nop"); return a * 2 + 1; }
static __attribute__((noinline)) int local_one(int a) { return a ? local_one(a - 1) * 3 : twice(a); }
int visible_one(int a) { return local_one(a) + twice(a); }
int __attribute__((weak, alias("visible_one"))) weak_alias(int);
int __attribute__((alias("visible_one"))) __longer_alias(int);
int jiffies = 5;
__attribute__((section(".init.text"))) int start_kernel(int a) { return visible_one(a) + jiffies; }
__asm__(".pushsection .data..percpu,\\"aw\\"\\n.globl per_cpu_one\\n.type per_cpu_one,@object\\n.size per_cpu_one,8\\nper_cpu_one: .quad 0\\n.popsection\\n");
`;
const LINKER_SCRIPT = `SECTIONS {
  . = 0xffffffff81000000;
  .text : { *(.text*) } _etext = .;
  . = 0xffffffff82000000;
  .data : { *(.data) *(.bss) }
  .note.gnu.build-id : { *(.note.gnu.build-id) }
  .data..percpu 0 : { *(.data..percpu) }
  . = 0xffffffff83000000;
  .init.text : { _sinittext = .; *(.init.text) _einittext = .; }
  /DISCARD/ : { *(.eh_frame) *(.comment) *(.note.GNU-stack) *(.note.gnu.property) }
}`;
const MODULE_SOURCE = `
static inline __attribute__((always_inline)) int thrice(int a) { return a * 3; }
__attribute__((noinline)) int mod_one(int a) { return a ? mod_one(a - 1) + 2 : thrice(a); }
__attribute__((noinline, section(".text.unlikely"))) int mod_cold(int a) { return a ? mod_cold(a - 1) + 4 : thrice(a); }
__attribute__((noinline, section(".exit.text"))) int mod_exit(int a) { return mod_one(a) + 1; }
__attribute__((section(".init.text"))) int mod_init(int a) { return mod_one(a) + mod_cold(a) + mod_exit(a); }
`;
const MODULE_START = 0xffff_ffff_c012_3000n;

const signed = (address: bigint): number => Number(BigInt.asIntN(64, address));
const unsigned = (address: number): bigint => BigInt.asUintN(64, BigInt(address));

function described(code: CodeSymbols | undefined, address: number): string {
  const index = code?.table?.find(address) ?? -1;
  return index < 0 ? '' : `${code!.table!.name(index)}+${address - code!.table!.start(index)}`;
}

async function linesAt(code: CodeSymbols, addresses: readonly number[]): Promise<string[][]> {
  const found: string[][] = addresses.map(() => []);
  await code.lines?.lookup(Float64Array.from(addresses), (index, frames) => {
    found[index] = frames.map((frame) => `${frame.function?.name} ${frame.file}:${frame.line}`);
  });
  return found;
}

/** What addr2line says about addresses of a file, innermost first. */
function addr2line(file: string, svmas: readonly bigint[], ...args: string[]): string[][] {
  const input = svmas.map((svma) => svma.toString(16)).join('\n');
  const text = execFileSync('addr2line', ['-afi', '-e', file, ...args], { input, encoding: 'utf8' });
  const blocks = text.split(/^0x[0-9a-f]+\n/m).slice(1);
  return blocks.map((block) =>
    (block.match(/.+\n.+\n/g) ?? []).map((pair) =>
      pair
        .replace(/ \(discriminator \d+\)/, '')
        .trim()
        .replace('\n', ' '),
    ),
  );
}

describe.skipIf(!canBuild)('a kernel built here', () => {
  let dir: string;
  let buildId: string;
  const at = (name: string): string => join(dir, name);
  const gcc = (...args: string[]): void => {
    execFileSync('gcc', [
      '-g',
      '-O1',
      '-ffreestanding',
      '-fno-pie',
      '-fcf-protection=none',
      '-fno-asynchronous-unwind-tables',
      '-fno-reorder-functions',
      ...args,
    ]);
  };
  const symbolsOf = async (object: Partial<CodeObject>, options: Partial<SymbolizerOptions> = {}, lines = true): Promise<CodeSymbols | undefined> => {
    const symbolizer = new Symbolizer(new NodeSymbolFiles(), { debugDirs: [], buildIdDir: at('cache'), compatPerf: false, ...options }, new Diagnostics());
    return symbolizer.symbolsFor({ name: '[kernel.kallsyms]', kind: 'kernel', buildId, osRelease: RELEASE, ...object }, { lines });
  };
  const reference = { referenceSymbol: '_text', referenceAddress: signed(TEXT) };
  const nm = (file: string): Map<string, bigint> =>
    new Map(
      [...execFileSync('nm', [file], { encoding: 'utf8' }).matchAll(/^([0-9a-f]{16}) \S (\S+)$/gm)].map(([, value, name]) => [name, BigInt(`0x${value}`)]),
    );

  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'kernel-'));
    writeFileSync(at('kernel.c'), KERNEL_SOURCE);
    writeFileSync(at('kernel.lds'), LINKER_SCRIPT);
    gcc('-mcmodel=kernel', '-nostdlib', '-static', '-no-pie', '-Wl,--build-id', '-T', at('kernel.lds'), '-o', at('vmlinux'), at('kernel.c'));
    buildId = /Build ID: ([0-9a-f]+)/.exec(execFileSync('readelf', ['-n', at('vmlinux')], { encoding: 'utf8' }))![1];
    writeFileSync(at('module.c'), MODULE_SOURCE);
    const modules = at(`root/lib/modules/${RELEASE}`);
    mkdirSync(`${modules}/kernel/net`, { recursive: true });
    gcc('-mcmodel=kernel', '-c', '-o', `${modules}/kernel/net/mod-one.ko`, at('module.c'));
    writeFileSync(`${modules}/modules.dep`, 'kernel/fs/other.ko:\nkernel/net/mod-one.ko: kernel/fs/other.ko\n');
  });
  afterAll(() => rmSync(dir, { recursive: true }));
  const moduleFile = (): string => at(`root/lib/modules/${RELEASE}/kernel/net/mod-one.ko`);

  it.skipIf(!hasPerf).each(['the build id', 'no build id'])('has the names that perf has, with %s', async (known) => {
    const code = await symbolsOf({ ...reference, buildId: known === 'no build id' ? '' : buildId }, { vmlinux: at('vmlinux'), compatPerf: true }, false);
    const symbols = nm(at('vmlinux'));
    const [textEnd, initStart, initEnd] = ['_etext', '_sinittext', '_einittext'].map((name) => symbols.get(name)! + SHIFT);
    const addresses: bigint[] = [];
    for (let ip = TEXT; ip < textEnd + 16n; ip++) addresses.push(ip);
    for (let ip = initStart; ip < initEnd; ip++) addresses.push(ip);
    const map = { path: '[kernel.kallsyms]_text', start: TEXT, sizeBytes: 0xffff_ffff_ffff_ff00n - TEXT, pgoff: TEXT, kernel: true };
    const names = askPerf([known === 'no build id' ? map : { ...map, buildId }], addresses, { args: ['-k', at('vmlinux')] });
    expect(addresses.map((ip) => described(code, signed(ip)))).toEqual(names.map(({ name, offset }) => (name === undefined ? '' : `${name}+${offset}`)));
    expect(new Set(names.map(({ name }) => name))).toEqual(new Set([undefined, '_text', '__nop_label', 'local_one', 'visible_one', 'start_kernel']));
  });

  it.skipIf(!hasAddr2line)('has files, lines and inlined functions, even if the names come from a list', async () => {
    const ends = nm(at('vmlinux'));
    const svmas: bigint[] = [];
    for (let svma = ends.get('local_one')!; svma < ends.get('_etext')!; svma++) svmas.push(svma);
    for (let svma = ends.get('start_kernel')!; svma < ends.get('_einittext')!; svma++) svmas.push(svma);
    const expected = addr2line(at('vmlinux'), svmas);
    writeFileSync(at('list'), `${TEXT.toString(16)} T _text\n${(TEXT + 8n).toString(16)} t listed\n`);
    for (const kallsyms of [undefined, at('list')]) {
      const code = await symbolsOf(reference, { vmlinux: at('vmlinux'), ...(kallsyms !== undefined && { kallsyms }) });
      const found = await linesAt(
        code!,
        svmas.map((svma) => signed(svma + SHIFT)),
      );
      await code!.close?.();
      expect(found).toEqual(expected);
      expect(found.some((frames) => frames.length === 2 && frames[0].startsWith('twice '))).toBe(true);
      expect(described(code, signed(TEXT + 8n))).toBe(kallsyms === undefined ? '_text+8' : 'listed+0');
    }
  });

  const module = { name: '[mod_one]', kind: 'module', buildId: '', osRelease: RELEASE, start: signed(MODULE_START) } as const;

  it.skipIf(!hasPerf)('names the functions of a module as perf does, which knows only its .text', async () => {
    const code = await symbolsOf({ ...module, longName: moduleFile() }, { compatPerf: true }, false);
    const addresses = Array.from({ length: 256 }, (_, i) => MODULE_START + BigInt(i));
    const maps = [
      { path: '[kernel.kallsyms]_text', start: TEXT, sizeBytes: 0x1000n, pgoff: TEXT, kernel: true },
      { path: moduleFile(), start: MODULE_START, sizeBytes: 0x1000n, pgoff: 0n, kernel: true },
    ];
    const names = askPerf(maps, addresses, { args: ['--kallsyms', '/dev/null'] });
    expect(addresses.map((ip) => described(code, signed(ip)))).toEqual(names.map(({ name, offset }) => (name === undefined ? '' : `${name}+${offset}`)));
    expect(new Set(names.map(({ name }) => name))).toEqual(new Set([undefined, 'mod_one']));
  });

  it('lays out the sections of a module as the kernel does: one after another, without those that it discards', async () => {
    const code = await symbolsOf({ ...module, longName: moduleFile() });
    const sizes = new Map(
      [...execFileSync('readelf', ['-SW', moduleFile()], { encoding: 'utf8' }).matchAll(/\] (\.\S*text\S*) +PROGBITS +0+ [0-9a-f]+ ([0-9a-f]+)/g)].map(
        ([, name, size]) => [name, Number.parseInt(size, 16)],
      ),
    );
    const named = new Map(Array.from({ length: code!.table!.size }, (_, i) => [code!.table!.name(i), code!.table!.start(i) - signed(MODULE_START)]));
    await code!.close?.();
    const [text, unlikely] = [sizes.get('.text')!, sizes.get('.text.unlikely')!];
    expect(named).toEqual(
      new Map([
        ['mod_one', 0],
        ['mod_cold', text],
        ['mod_exit', text + unlikely],
      ]),
    );
  });

  it.skipIf(!hasAddr2line).each(['plain', 'gzip', 'xz', 'zstd'])('has lines of a module that is stored as %s, found by its name', async (how) => {
    const root = at(`root-${how}`);
    const path = `${root}/lib/modules/${RELEASE}/updates/mod_one.ko${{ plain: '', gzip: '.gz', xz: '.xz', zstd: '.zst' }[how]}`;
    mkdirSync(`${root}/lib/modules/${RELEASE}/updates`, { recursive: true });
    if (how === 'plain') writeFileSync(path, readFileSync(moduleFile()));
    else if (how === 'gzip') writeFileSync(path, gzipSync(readFileSync(moduleFile())));
    else if (!runs(how, ['--version'])) {
      announceSkipped(`a module packed by ${how}`, 'it is not installed');
      return;
    } else writeFileSync(path, execFileSync(how, ['-c', moduleFile()], { maxBuffer: 1 << 26 }));
    writeFileSync(`${root}/lib/modules/${RELEASE}/modules.dep`, `${path.slice(path.indexOf('updates'))}:\n`);
    const code = (await symbolsOf(module, { symfs: root }))!;
    const mod = code.table!;
    const start = mod.start(Array.from({ length: mod.size }, (_, i) => mod.name(i)).indexOf('mod_one'));
    const offsets = Array.from({ length: mod.end(mod.find(start)) - start }, (_, i) => i);
    const found = await linesAt(
      code,
      offsets.map((offset) => start + offset),
    );
    await code.close?.();
    expect(found).toEqual(
      addr2line(
        moduleFile(),
        offsets.map((offset) => BigInt(offset)),
        '-j',
        '.text',
      ),
    );
  });

  it.skipIf(!hasAddr2line)('finds the debug file of a stripped module by the build id in the module itself', async () => {
    const root = `${at('root-stripped')}/lib/modules/${RELEASE}`;
    const full = at('with-id.ko');
    mkdirSync(root, { recursive: true });
    execFileSync('ld', ['-r', '--build-id=0x1122334455667788990011223344556677889900', '-o', full, moduleFile()]);
    execFileSync('strip', ['--strip-debug', '-o', `${root}/mod_one.ko`, full]);
    writeFileSync(`${root}/modules.order`, 'mod_one.ko\n');
    const debugDir = at('debug');
    mkdirSync(`${debugDir}/.build-id/11`, { recursive: true });
    const debugFile = `${debugDir}/.build-id/11/22334455667788990011223344556677889900.debug`;
    execFileSync('objcopy', ['--only-keep-debug', full, debugFile]);
    const linesOf = async (): Promise<string> => {
      const code = (await symbolsOf({ ...module, longName: `${root}/mod_one.ko` }, { debugDirs: [debugDir] }))!;
      const [[innermost = '']] = await linesAt(code, [signed(MODULE_START)]);
      await code.close?.();
      return innermost;
    };
    expect(await linesOf()).toMatch(/^mod_one .*module\.c:\d+$/);
    // A debug file of another build is not used.
    execFileSync('ld', ['-r', '--build-id=0x11', '-o', at('other-id.ko'), moduleFile()]);
    execFileSync('objcopy', ['--only-keep-debug', at('other-id.ko'), debugFile]);
    expect(await linesOf()).toBe('');
  });

  it('finds each section of a module where the list of the recorded boot has its functions', async () => {
    const bases = { mod_one: 0x1000n, mod_cold: 0x9000n, mod_exit: 0x5000n, mod_init: 0x20000n };
    const lines = Object.entries(bases).map(([name, base]) => `${(MODULE_START + base).toString(16)} t ${name}\t[mod_one]`);
    writeFileSync(at('same-boot'), `${TEXT.toString(16)} T _text\n${lines.join('\n')}\n`);
    const code = (await symbolsOf({ ...module, longName: moduleFile() }, { kallsyms: at('same-boot') }))!;
    const addresses = Object.values(bases).map((base) => signed(MODULE_START + base));
    const order = [...addresses.keys()].sort((a, b) => addresses[a] - addresses[b]);
    const found = await linesAt(
      code,
      order.map((i) => addresses[i]),
    );
    await code.close?.();
    expect(found.map((frames) => frames[0]?.split(' ')[0])).toEqual(order.map((i) => Object.keys(bases)[i]));
    expect(addresses.map((address) => described(code, address))).toEqual(Object.keys(bases).map((name) => `${name}+0`));
    expect(unsigned(addresses[0])).toBe(MODULE_START + 0x1000n);
  });
});
