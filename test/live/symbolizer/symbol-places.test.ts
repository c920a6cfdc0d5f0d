// A recording on a machine that lacks the recorded program and has its files in only one place. Needs gcc and binutils.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { DebuginfodClient } from '../../../src/host/symbols/debuginfod.ts';
import { DebuginfodCache } from '../../../src/host/symbols/debuginfod-cache.ts';
import { NodeSymbolFiles } from '../../../src/host/symbols/symbol-files.ts';
import type { DsoSymbols } from '../../../src/naming/dso-symbols.ts';
import { type SymbolFiles, Symbolizer, type SymbolizerOptions } from '../../../src/symbolizer/symbolizer.ts';
import { type AttrSpec, encodeFile, type RecordSpec, record } from '../../support/builders/recordings/perf-encoder.ts';
import { hasPerf, runs } from '../../support/perf/perf-oracle.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';
import { runMain } from '../../support/programs/run-main.ts';
import { decode } from '../../support/readers/decode.ts';
import { readingFindings } from '../../support/readers/reading-findings.ts';

const hasTools = ['gcc', 'objcopy', 'strip', 'nm', 'readelf'].every((tool) => runs(tool, ['--version']));
const hasXz = runs('xz', ['--version']);
const isRoot = process.getuid?.() === 0;
if (!hasTools) announceSkipped('where symbols are found', 'gcc or binutils are missing');
if (!hasXz) announceSkipped('MiniDebugInfo', 'xz is missing');
if (!hasPerf) announceSkipped("perf's build-id cache", 'perf does not run here');
if (!isRoot) announceSkipped('files of containers', 'only root may change its root directory');

const SOURCE = `
#include <unistd.h>
static inline int mix(int x) { for (int i = 0; i < 50; i++) x = x * 31 + i; return x; }
__attribute__((noinline)) static int inner(int n) { int s = 0; for (int i = 0; i < n; i++) s += mix(i); return s; }
__attribute__((noinline)) int exported(int n) { return inner(n) + inner(n + 1); }
int main(int argc, char **argv) { if (argc > 1) for (;;) sleep(1); return exported(argc); }
`;
/** The path of the program in the recording. Nothing is there. */
const RECORDED = '/opt/perfconv-nowhere/bin/app';
const MAPPED_AT = 0x5500_0000_0000n;

const CLOCK: AttrSpec = { name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time'], flags: ['sampleIdAll'] };

/** Waits until a process has mapped code of a file. @returns where, in hex digits */
async function mapOf(pid: number, name: string): Promise<{ from: string; to: string; offset: string }> {
  for (;;) {
    const [, from, to, offset] = new RegExp(`^(\\w+)-(\\w+) r-xp (\\w+) .*/${name}$`, 'm').exec(readFileSync(`/proc/${pid}/maps`, 'utf8')) ?? [];
    if (from !== undefined) return { from, to, offset };
    await new Promise((done) => setTimeout(done, 10));
  }
}

describe.skipIf(!hasTools)('a recording on a machine without the program', () => {
  let built: string;
  let buildId: string;
  /** File offset and size of the code. */
  let code: { offset: number; sizeBytes: number };
  let functions: number[];
  const file = (name: string): string => join(built, name);

  beforeAll(() => {
    built = mkdtempSync(join(tmpdir(), 'places-'));
    writeFileSync(file('app.c'), SOURCE);
    // Addresses must differ from their file offsets; a debug file keeps neither segment's offset.
    execFileSync('gcc', ['-O2', '-g', '-no-pie', '-rdynamic', '-Wl,--build-id,-z,noseparate-code', '-o', file('app'), file('app.c')]);
    execFileSync('objcopy', ['--only-keep-debug', file('app'), file('app.debug')]);
    execFileSync('strip', ['-o', file('stripped'), file('app')]);
    execFileSync('objcopy', [`--add-gnu-debuglink=${file('app.debug')}`, file('stripped'), file('linked')]);
    buildId = /Build ID: ([0-9a-f]+)/.exec(execFileSync('readelf', ['-n', file('app')], { encoding: 'utf8' }))![1];
    const load = /LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) 0x\w+ R E/.exec(execFileSync('readelf', ['-lW', file('app')], { encoding: 'utf8' }))!;
    const [offset, vaddr, sizeBytes] = load.slice(1).map(Number);
    code = { offset, sizeBytes };
    const symbols = execFileSync('nm', ['-S', file('app')], { encoding: 'utf8' });
    functions = [...symbols.matchAll(/^(\w+) (\w+) [Tt] (?:inner|exported|main)$/gm)].flatMap(([, start, size]) =>
      Array.from({ length: Number(`0x${size}`) }, (_, i) => Number(`0x${start}`) + i - vaddr + offset),
    );
  });
  afterAll(() => rmSync(built, { recursive: true }));

  let dir: string;
  let process1: ChildProcess | undefined;
  const inDir = (path: string): string => join(dir, path);
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'machine-'));
  });
  afterEach(() => {
    process1?.kill('SIGKILL');
    process1 = undefined;
    rmSync(dir, { recursive: true });
  });

  /** Puts a file into the tree of this test. */
  function put(name: string, path: string): void {
    mkdirSync(dirname(inDir(path)), { recursive: true });
    copyFileSync(file(name), inDir(path));
  }

  /** A sample at each byte of the functions. */
  function recording({ path = RECORDED, pid = 0x3fff_fff0, withId = true } = {}): Uint8Array {
    const firstPage = code.offset - (code.offset % 4096);
    return encodeFile({
      attrs: [CLOCK],
      records: [
        record.mmap2(
          {
            pid,
            addr: MAPPED_AT,
            len: BigInt(Math.ceil((code.offset + code.sizeBytes - firstPage) / 4096) * 4096),
            pgoff: BigInt(firstPage),
            filename: path,
            ...(withId && { buildId: Buffer.from(buildId, 'hex') }),
          },
          { sampleId: { time: 1n } },
        ),
        ...functions.map((offset, i) => record.sample({ ip: MAPPED_AT + BigInt(offset - firstPage), pid, time: BigInt(2 + i) })),
      ],
    });
  }

  interface Found {
    /** For each address the functions, innermost first, with file and line. */
    readonly frames: readonly string[];
    readonly names: readonly string[];
    readonly codes: readonly string[];
    readonly dsos: readonly DsoSymbols[];
  }

  async function find(options: Partial<SymbolizerOptions>, more: Parameters<typeof recording>[0] & { files?: SymbolFiles } = {}): Promise<Found> {
    const diagnostics = new Diagnostics();
    const symbolizer = new Symbolizer(
      more.files ?? new NodeSymbolFiles(),
      { debugDirs: [], buildIdDir: inDir('no-cache'), compatPerf: false, ...options },
      diagnostics,
    );
    let dsos: readonly DsoSymbols[] = [];
    const { profile, diagnostics: other } = await decode(recording(more), { symbolizer, onSymbols: (found) => (dsos = found) });
    const { locations, functions: functionTable, strings, stacks, totals } = profile;
    const frames: string[] = [];
    const names: string[] = [];
    for (let row = 0; row < totals.size; row++) {
      const location = stacks.location(totals.stack(row));
      const lines = Array.from({ length: locations.lineCount(location) }, (_, nth) => {
        const func = locations.lineFunction(location, nth);
        return { name: strings.get(functionTable.name(func)), text: `${strings.get(functionTable.file(func))}:${locations.lineNumber(location, nth)}` };
      });
      frames.push(lines.map(({ name, text }) => `${name} ${text}`).join(' < '));
      names.push(lines.at(-1)?.name ?? '');
    }
    return { frames, names, codes: [...readingFindings(diagnostics), ...readingFindings(other)].map(({ code: what }) => what), dsos };
  }

  let whole: Found;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'machine-'));
    put('app', `sys${RECORDED}`);
    whole = await find({ symfs: inDir('sys') });
    rmSync(dir, { recursive: true });
    expect(whole.frames.some((text) => /^mix \S+app\.c:3 < inner \S+app\.c:4$/.test(text))).toBe(true);
    expect(new Set(whole.names)).toEqual(new Set(['inner', 'exported', 'main']));
  });

  const idPath = (directory: string): string => `${directory}/.build-id/${buildId.slice(0, 2)}/${buildId.slice(2)}`;

  describe('has the same functions, files and lines', () => {
    it('from the build-id cache', async () => {
      put('app', `${idPath('cache')}/elf`);
      expect((await find({ buildIdDir: inDir('cache') })).frames).toEqual(whole.frames);
    });

    it.each([
      ['a directory', `../../opt/app/ID`, 'elf'],
      ['a file', `../../opt/app/ID`, ''],
    ])('from a build-id cache with links to %s', async (_, target, name) => {
      const to = target.replace('ID', buildId);
      put('app', join(dirname(idPath('cache')), to, name));
      mkdirSync(dirname(inDir(idPath('cache'))), { recursive: true });
      symlinkSync(to, inDir(idPath('cache')));
      expect((await find({ buildIdDir: inDir('cache') })).frames).toEqual(whole.frames);
    });

    it.skipIf(!hasPerf)('from the build-id cache as perf fills it', async () => {
      execFileSync('perf', ['--buildid-dir', inDir('cache'), 'buildid-cache', '--add', file('app')], { stdio: 'ignore' });
      expect((await find({ buildIdDir: inDir('cache') })).frames).toEqual(whole.frames);
    });

    it('from a stripped binary in symfs and its debug file, by debug link', async () => {
      put('linked', `sys${RECORDED}`);
      put('app.debug', `sys${dirname(RECORDED)}/.debug/app.debug`);
      expect((await find({ symfs: inDir('sys') })).frames).toEqual(whole.frames);
      expect((await find({ symfs: inDir('sys') }, { withId: false })).frames).toEqual(whole.frames);
    });

    it('from only the debug file, by build id and by path', async () => {
      put('app.debug', `${idPath('by-id')}.debug`);
      put('app.debug', `by-path${RECORDED}.debug`);
      for (const debugDir of ['by-id', 'by-path']) expect((await find({ debugDirs: [inDir(debugDir)] })).frames).toEqual(whole.frames);
    });

    it.each([
      ['eu-strip', (from: string, to: string) => ['-f', to, '-o', `${to}.rest`, from]],
      ['llvm-objcopy', (from: string, to: string) => ['--only-keep-debug', from, to]],
    ])('from only the debug file that %s makes', async (tool, args) => {
      if (!runs(tool, ['--version'])) return announceSkipped(`debug files of ${tool}`, 'it is not installed');
      mkdirSync(dirname(inDir(idPath('debug'))), { recursive: true });
      execFileSync(tool, args(file('app'), inDir(`${idPath('debug')}.debug`)));
      expect((await find({ debugDirs: [inDir('debug')] })).frames).toEqual(whole.frames);
    });

    it("from symfs without directories, and from pprof's directories", async () => {
      put('app', 'flat/app');
      expect((await find({ symfs: inDir('flat') })).frames).toEqual(whole.frames);
      const layouts = [`${buildId}/app`, RECORDED.slice(1), 'app', `${buildId.slice(0, 2)}/${buildId.slice(2)}.debug`];
      for (const [i, layout] of layouts.entries()) {
        put('app', `pprof${i}/${layout}`);
        expect((await find({ binaryDirs: [inDir(`pprof${i}`)] })).frames).toEqual(whole.frames);
      }
    });

    it('from the file that a process was started from, even if it is deleted', async () => {
      put('app', 'gone');
      process1 = spawn(inDir('gone'), ['wait'], { stdio: 'ignore' });
      rmSync(inDir('gone'));
      expect((await find({}, { pid: process1.pid!, path: `${inDir('gone')} (deleted)` })).frames).toEqual(whole.frames);
    });

    it.skipIf(!isRoot)('from a file that a process has mapped, even if it is deleted', async () => {
      writeFileSync(
        inDir('load.c'),
        '#include <dlfcn.h>\n#include <unistd.h>\nint main(int c, char **v) { if (!dlopen(v[1], RTLD_NOW)) return 1; for (;;) sleep(1); }',
      );
      execFileSync('gcc', ['-o', inDir('load'), inDir('load.c'), '-ldl']);
      execFileSync('gcc', ['-O2', '-g', '-shared', '-fPIC', '-Wl,--build-id', '-o', inDir('lib.so'), file('app.c')]);
      const libraryId = /Build ID: ([0-9a-f]+)/.exec(execFileSync('readelf', ['-n', inDir('lib.so')], { encoding: 'utf8' }))![1];
      process1 = spawn(inDir('load'), [inDir('lib.so')], { stdio: 'ignore' });
      const map = await mapOf(process1.pid!, 'lib.so');
      rmSync(inDir('lib.so'));
      const pid = process1.pid!;
      const mapped = {
        pid,
        addr: BigInt(`0x${map.from}`),
        len: BigInt(`0x${map.to}`) - BigInt(`0x${map.from}`),
        pgoff: BigInt(`0x${map.offset}`),
        filename: inDir('lib.so'),
      };
      const recorded = (file: { buildId: Buffer } | { maj: number; min: number; ino: bigint }): RecordSpec[] => [
        record.mmap2({ ...mapped, ...file }, { sampleId: { time: 1n } }),
        record.sample({ ip: BigInt(`0x${map.from}`) + 0x120n, pid, time: 2n }),
      ];
      const found = async (records: RecordSpec[]): Promise<string[]> => {
        let dsos: readonly DsoSymbols[] = [];
        const symbolizer = new Symbolizer(new NodeSymbolFiles(), { debugDirs: [], compatPerf: false }, new Diagnostics());
        await decode(encodeFile({ attrs: [CLOCK], records }), { symbolizer, onSymbols: (found) => (dsos = found) });
        return [dsos[0].buildId, ...dsos[0].places.filter(({ uses }) => uses.length === 3).map(({ place }) => place)];
      };
      expect(await found(recorded({ buildId: Buffer.from(libraryId, 'hex') }))).toEqual([libraryId, `/proc/${process1.pid!}/map_files/${map.from}-${map.to}`]);
      // Without a build id, device and inode identify the file. The kernel shows the first of the file's maps.
      const [, first, major, minor, inode] = /^(\S+) \S+ 0+ (\S+):(\S+) (\d+) .*lib\.so \(deleted\)$/m.exec(
        readFileSync(`/proc/${process1.pid!}/maps`, 'utf8'),
      )!;
      const identity = { maj: Number.parseInt(major, 16), min: Number.parseInt(minor, 16), ino: BigInt(inode) };
      expect(await found(recorded(identity))).toEqual([libraryId, `/proc/${process1.pid!}/map_files/${first}`]);
      expect(await found(recorded({ ...identity, ino: 1n }))).toEqual(['']);
    });

    it.skipIf(!isRoot)("from a container's root directory", async () => {
      put('app', `root${RECORDED}`);
      execFileSync('gcc', ['-static', '-o', inDir('root/pause'), file('app.c')]);
      process1 = spawn('chroot', [inDir('root'), '/pause', 'wait'], { stdio: 'ignore' });
      // chroot changes its root directory before it becomes the program.
      for (let i = 0; i < 1000 && !readFileSync(`/proc/${process1.pid!}/comm`, 'utf8').startsWith('pause'); i++)
        await new Promise((done) => setTimeout(done, 10));
      const found = await find({}, { pid: process1.pid! });
      expect(found.frames).toEqual(whole.frames);
      expect(found.dsos[0].places.find(({ uses }) => uses.includes('lines'))?.place).toBe(`/proc/${process1.pid!}/root${RECORDED}`);
      expect((await find({}, { pid: process1.pid!, withId: false })).names.join('')).toBe('');
    });

    it('from a debuginfod server', async () => {
      const asked: string[] = [];
      const server = createServer((request, response) => {
        const kind = /^\/buildid\/([0-9a-f]+)\/(debuginfo|executable)$/.exec(request.url!);
        asked.push(kind?.[2] ?? '');
        if (kind?.[1] !== buildId) response.writeHead(404).end();
        else response.end(readFileSync(file(kind[2] === 'debuginfo' ? 'app.debug' : 'stripped')));
      });
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      try {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        const cache = new DebuginfodCache(inDir('cache'));
        const client = new DebuginfodClient({ servers: [url], cache, timeoutMs: 60_000, budgetMs: 60_000, maxSizeBytes: 1 << 30 });
        expect((await find({}, { files: new NodeSymbolFiles(client) })).frames).toEqual(whole.frames);
        expect(asked).toEqual(['debuginfo', 'executable']);

        writeFileSync(inDir('app.data'), recording());
        const env = { HOME: dir, XDG_CACHE_HOME: inDir('xdg') };
        const run = (...args: string[]) => runMain(['-t', 'script', '-F', 'ip,sym,srcline', '-o', '-', inDir('app.data'), ...args], { env });
        const without = await run();
        expect(without.stdout.toString()).not.toContain('inner');
        expect(without.stderr).toContain(`no symbols found for ${RECORDED} (100.0 % of the samples)`);
        expect(asked).toHaveLength(2);
        const { status, stdout, stderr } = await run('--debuginfod', url, '--explain-symbols');
        expect(status).toBe(0);
        expect(stdout.toString()).toMatch(/inner/);
        expect(stdout.toString()).toMatch(/app\.c:4/);
        expect(stderr).toMatch(new RegExp(`fetching \\d+ kB from ${url}/buildid/${buildId}/debuginfo\n`));
        expect(stderr).toContain(`used           ${inDir(`xdg/debuginfod_client/${buildId}/debuginfo`)}\n                 for functions, files and lines\n`);
        const fromEnvironment = await runMain(['-t', 'folded', '-o', '-', inDir('app.data'), '--debuginfod', 'env'], {
          env: { ...env, DEBUGINFOD_URLS: `${url} ima:enforcing` },
        });
        expect(fromEnvironment.stdout.toString()).toContain('inner');
        expect(asked).toHaveLength(4);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });
  });

  describe('has the same functions', () => {
    it.skipIf(!hasXz)('from .gnu_debugdata', async () => {
      // As distributions make it: all symbols except those of dynamic linking.
      const dynamic = execFileSync('nm', ['-D', '--format=posix', '--defined-only', file('app')], { encoding: 'utf8' });
      writeFileSync(inDir('drop'), dynamic.replace(/ .*/g, ''));
      execFileSync('objcopy', ['--strip-debug', `--strip-symbols=${inDir('drop')}`, file('app.debug'), inDir('mini')]);
      execFileSync('xz', [inDir('mini')]);
      mkdirSync(dirname(inDir(`sys${RECORDED}`)), { recursive: true });
      execFileSync('objcopy', ['--add-section', `.gnu_debugdata=${inDir('mini.xz')}`, file('stripped'), inDir(`sys${RECORDED}`)]);
      const found = await find({ symfs: inDir('sys') });
      expect(found.names).toEqual(whole.names);
      expect(found.frames.join('')).not.toContain('app.c');
    });

    it('but no lines from a binary that has only symbols', async () => {
      execFileSync('strip', ['-g', '-o', inDir('app'), file('app')]);
      const found = await find({ symfs: dir });
      expect(found.names).toEqual(whole.names);
      expect(found.dsos[0]).toMatchObject({ namedLocations: functions.length, lineLocations: 0 });
    });
  });

  it('does not use another build of the program, and says so', async () => {
    writeFileSync(inDir('app.c'), SOURCE.replace('31', '37'));
    mkdirSync(dirname(inDir(`sys${RECORDED}`)), { recursive: true });
    execFileSync('gcc', ['-O2', '-g', '-no-pie', '-Wl,--build-id', '-o', inDir(`sys${RECORDED}`), inDir('app.c')]);
    const found = await find({ symfs: inDir('sys') });
    expect(found.names.join('')).toBe('');
    expect(found.codes).toEqual(['build-id-mismatch', 'no-symbols']);
    expect(found.dsos[0].places[0]).toMatchObject({ place: inDir(`sys${RECORDED}`), outcome: 'other-build-id', uses: [] });
  });

  it('does not use a wrong debug file that a debug link happens to find, and says so', async () => {
    execFileSync('objcopy', ['--remove-section', '.note.gnu.build-id', file('linked'), inDir('app')]);
    execFileSync('objcopy', ['--remove-section', '.note.gnu.build-id', '--remove-section', '.comment', file('app.debug'), inDir('app.debug')]);
    const path = inDir('app');
    const found = await find({}, { path, withId: false });
    expect(found.codes).toContain('debug-link-mismatch');
    // Only the functions that it exports are known.
    expect(new Set(found.names)).toEqual(new Set(['', 'exported', 'main']));
    copyFileSync(file('app.debug'), inDir('app.debug'));
    expect((await find({}, { path, withId: false })).frames).toEqual(whole.frames);
  });
});
