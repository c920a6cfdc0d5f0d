import { execFileSync, type StdioOptions } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { READING_CHECKS } from '../../src/library/options.ts';
import { context, dsoType, encodeFile, simpleperfFeatures } from '../support/builders/recordings/perf-encoder.ts';
import { CLOCK, comm, LIB, libMap, META, sampleAt } from '../support/builders/recordings/simpleperf-recordings.ts';
import { ensureBuilt } from '../support/programs/built-cli.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
const page = textOf('docs/library.md');

/** The programs on a page, in their order. */
const programsOf = (text: string): string[] => [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code);

const [tenLines] = programsOf(page);
/** The page's sections about names: the names in the heading, and its programs. */
const sections = page
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    names: [...(section.split('\n')[0].match(/`\w+`/g) ?? [])].map((name) => name.slice(1, -1)),
    programs: programsOf(section),
  }))
  .filter(({ names }) => names.length > 0);

/** Names that an entry exports, including types: entries contain only lists of exports. */
function exportsOf(entry: string): string[] {
  return exportsIn(entry).map(({ name }) => name);
}

/** The same, with the names in the modules that they come from. */
function exportsIn(entry: string): { readonly name: string; readonly local: string; readonly isType: boolean }[] {
  return [...textOf(entry).matchAll(/^export (type )?\{([^}]*)\} from/gm)].flatMap(([, type, list]) =>
    [...list.matchAll(/(type )?\b(\w+)(?: as (\w+))?/g)].map(([, ownType, local, name = local]) => ({ name, local, isType: (type ?? ownType) !== undefined })),
  );
}

/** Texts of the declarations of types, classes and functions in the packed package, by name. */
function packedDeclarations(): Map<string, string> {
  const dist = join(dir, 'node_modules/perfconv/dist');
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.d.ts'));
  const texts = files.map((path) => readFileSync(join(dist, path), 'utf8').replace(/\/\*[\s\S]*?\*\//g, ''));
  // Only the first line of each declaration is not indented.
  const pieces = texts.flatMap((text) => text.split(/\n(?=[a-z])/));
  return new Map(
    pieces.flatMap((piece) => {
      const name = /^(?:export )?(?:declare )?(?:interface|type|class|function|const) (\w+)/.exec(piece)?.[1];
      return name === undefined ? [] : [[name, piece] as const];
    }),
  );
}

/** A folder in which the package is installed as it would be published, with only its dependencies beside it. */
let dir: string;
beforeAll(() => {
  ensureBuilt();
  dir = mkdtempSync(join(tmpdir(), 'perfconv-packed-'));
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const packed = execFileSync(npm, ['pack', '--ignore-scripts', '--silent', '--pack-destination', dir], { cwd: root, encoding: 'utf8' }).trim();
  execFileSync('tar', ['-xzf', packed], { cwd: dir });
  mkdirSync(join(dir, 'node_modules'));
  renameSync(join(dir, 'package'), join(dir, 'node_modules/perfconv'));
  for (const name of [...Object.keys(packageJson.dependencies), '@types/node']) {
    mkdirSync(dirname(join(dir, 'node_modules', name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(dir, 'node_modules', name), 'junction');
  }
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ type: 'module' }));
  copyFileSync(join(root, 'fixtures/threads.data'), join(dir, 'perf.data'));
  copyFileSync(join(root, 'fixtures/threads.data'), join(dir, 'monday.data'));
  copyFileSync(join(root, 'fixtures/tree.data'), join(dir, 'tuesday.data'));
  mkdirSync(join(dir, 'binaries/opt/app'), { recursive: true });
  copyFileSync(join(root, 'fixtures/debug/gcc5'), join(dir, 'binaries/opt/app/server'));
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

/** Runs a program in the folder. @returns what it prints */
function run(args: readonly string[], stdio: StdioOptions = 'pipe'): string {
  return execFileSync(process.execPath, [...args], { cwd: dir, encoding: 'utf8', stdio });
}

/** Compiles programs, with all declarations that they use. @throws Error with the compiler's messages */
function compile(programs: readonly string[], compilerOptions: object): void {
  programs.forEach((code, index) => {
    writeFileSync(join(dir, `program-${index}.ts`), code);
  });
  const files = programs.map((_, index) => `program-${index}.ts`);
  const options = { target: 'es2022', strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, types: ['node'], outDir: 'out', ...compilerOptions };
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }));
  try {
    run([join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json']);
  } catch (error) {
    // The compiler reports errors on its standard output.
    if (error instanceof Error && 'stdout' in error) throw new Error(`${error.message}\n${error.stdout}`, { cause: error });
    throw error;
  }
}

const RESOLUTIONS = [
  ['bundler', { module: 'esnext', moduleResolution: 'bundler' }],
  ['node16', { module: 'node16', moduleResolution: 'node16' }],
] as const;

describe('the page about the library', () => {
  test('has exactly the names that perfconv and perfconv/node export', () => {
    const names = [...new Set([...exportsOf('src/index.ts'), ...exportsOf('src/node.ts')])];
    expect(sections.flatMap((section) => section.names).sort()).toEqual(names.sort());
    expect(exportsOf('src/node.ts').filter((name) => !exportsOf('src/index.ts').includes(name))).toEqual(['NodeSymbolFiles']);
    for (const entry of ['src/index.ts', 'src/node.ts']) expect(exportsOf(entry).length).toBeLessThanOrEqual(26);
    expect(sections.filter(({ programs }) => programs.length === 0)).toEqual([]);
  });

  test('has every name that perfconv/symbols exports', () => {
    const table = page.slice(page.indexOf('## Addresses without a recording')).match(/^\| `.*? \|/gm) ?? [];
    expect(table.flatMap((row) => row.match(/\w+/g) ?? []).sort()).toEqual(exportsOf('src/symbols.ts').sort());
  });

  test('has every name that perfconv/unwind exports', () => {
    const section = page.slice(page.indexOf('## Stacks without a recording'), page.indexOf('## Addresses without a recording'));
    const table = section.slice(section.indexOf('| Name |')).match(/^\| `.*? \|/gm) ?? [];
    expect(table.flatMap((row) => row.match(/\w+/g) ?? []).sort()).toEqual(exportsOf('src/unwind.ts').sort());
  });

  test('has exactly the options that exist', () => {
    const options = page.slice(page.indexOf('## `ProfileOptions`'), page.indexOf('A profile keeps what'));
    const named = [...options.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell]) => cell.match(/\w+/g) ?? []);
    expect(named.sort()).toEqual([...Object.keys(READING_CHECKS), 'symbolFiles', 'debuginfod'].sort());
  });

  test.each(['symbols', 'unwind'])('mentions no type of perfconv/%s that programs cannot name', (entry) => {
    const exported = exportsIn(`src/${entry}.ts`);
    const declarations = packedDeclarations();
    expect(exported.filter(({ local }) => !declarations.has(local))).toEqual([]);
    const unnamed = exported.flatMap(({ local, isType }) => {
      const declaration = declarations.get(local) ?? '';
      // Nobody calls the constructor of a class that is exported as a type.
      const mentioned = new Set((isType ? declaration.replace(/^ *constructor\(.*$/gm, '') : declaration).match(/\b[A-Z]\w+\b/g));
      const others = [...mentioned].filter((other) => declarations.has(other) && !exported.some((one) => one.local === other));
      return others.map((other) => `${local} mentions ${other}`);
    });
    expect(unnamed).toEqual([]);
  });

  test('lets programs open files for symbols by themselves', () => {
    compile([OWN_FILES], RESOLUTIONS[1][1]);
    expect(run(['out/program-0.js']).trimEnd().split('\n')).toEqual(['own server', 'lines: true', 'fits /opt/app/server addresses,lines']);
  });

  test.each(RESOLUTIONS)('has examples that type-check, resolved as %s, and run from the packed package', (name, compilerOptions) => {
    const programs = sections.flatMap((section) => section.programs);
    compile(programs, compilerOptions);
    if (name !== 'node16') return;
    // One after another in the same process, each after a line with its number.
    const runAll = programs.map((_, index) => `console.log('PROGRAM ${index}');\nawait import('./program-${index}.js');\n`).join('');
    writeFileSync(join(dir, 'out/all.js'), runAll);
    const printed = run(['out/all.js'])
      .split(/^PROGRAM \d+\n/m)
      .slice(1);
    expect(printed.length).toBe(programs.length);
    programs.forEach((code, index) => {
      for (const [, value] of code.matchAll(/^ *console\.log\(.*\); \/\/ (.+)$/gm)) expect(printed[index].split('\n')).toContain(value);
    });
    for (const file of ['cpu.pb.gz', 'cpu.speedscope.json', 'cpu.trace.json.gz', 'cpu.csv/stat.csv', 'week.pb.gz'])
      expect(existsSync(join(dir, file))).toBe(true);
  });

  test('leads to an example of symbols without a recording', () => {
    compile(programsOf(textOf('docs/symbols.md')), RESOLUTIONS[1][1]);
    expect(run(['out/program-0.js']).trimEnd().split('\n')).toEqual([
      '0 outer::Ring<int, 4>::push(int) /src/outer.h:20',
      '0 outer::shared(int, int) /src/outer.h:32',
      '1 second /src/second.cc:9',
    ]);
  });
});

describe('ten lines', () => {
  test('are the same in the README', () => {
    expect(programsOf(textOf('README.md'))).toEqual([tenLines]);
  });

  test('give the same as the command line', () => {
    const symfs = join(root, 'fixtures/symfs');
    expect(tenLines.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
    compile([tenLines.replace('/mnt/target', symfs)], { ...RESOLUTIONS[1][1], lib: ['es2022', 'esnext.disposable'] });
    const [event, ...comms] = run(['out/program-0.js'], ['ignore', 'pipe', 'ignore']).trimEnd().split('\n');

    const program = join(dir, 'node_modules/perfconv/bin/perfconv.js');
    run([program, '--quiet', '--symfs', symfs, '-o', 'by-command-line.pb.gz', 'perf.data']);
    expect(readFileSync(join(dir, 'cpu.pb.gz')).equals(readFileSync(join(dir, 'by-command-line.pb.gz')))).toBe(true);
    const info = JSON.parse(run([program, 'info', '--json', 'perf.data'])) as { events: { name: string; samples: number; period: number }[] };
    expect(info.events.map(({ name, samples, period }) => `${name} ${samples} ${period}`)).toEqual([event]);
    const dumped = run([program, 'dump', '--json', '--type', 'COMM', 'perf.data']).trimEnd().split('\n');
    expect(comms).toEqual(dumped.map((line) => (JSON.parse(line) as { comm: string }).comm));
  });

  test('read standard input as well', () => {
    const lines = [
      "import { openRecording } from 'perfconv/node';",
      "const recording = await openRecording('-');",
      'const { events } = await recording.profile();',
    ];
    const print = 'console.log(recording.name, events.reduce((sum, { samples }) => sum + samples, 0), (await recording.info()).sampleCount);';
    const input = readFileSync(join(root, 'fixtures/pipe.data'));
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', [...lines, print].join('\n')], { cwd: dir, encoding: 'utf8', input });
    expect(printed.trimEnd()).toMatch(/^- ([1-9]\d*) \1$/);
  });
});

const PAGE = `
import { encodeText, openRecording, type Profile } from 'perfconv';

export async function show(file: File): Promise<Profile> {
  await using recording = await openRecording(file, { name: file.name });
  const profile = await recording.profile();
  const bytes = await profile.toBytes('pprof');
  // What pages do with bytes takes none that may be in a SharedArrayBuffer.
  const blobs = [bytes, ...Object.values(await profile.toTables()), encodeText(recording.name)].map((part) => new Blob([part]));
  await profile.write('folded', new CompressionStream('gzip').writable);
  // @ts-expect-error: only Node has files
  await profile.write('pprof', 'cpu.pb.gz');
  console.log(bytes.length, blobs.length);
  return profile;
}
`;

const OWN_FILES = `
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { NodeSymbolFiles } from 'perfconv/node';
import { BufferSource, Diagnostics, SymbolSearch, Symbolizer } from 'perfconv/symbols';
import type { ByteSource, Compression, DebugFileKind, FetchedFile, FileStamp, JitFile, RecordedProcess, RecordingSymbols, SymbolFiles } from 'perfconv/symbols';

class OwnFiles implements SymbolFiles {
  async open(path: string): Promise<ByteSource | undefined> {
    return path === '/opt/app/server' ? new BufferSource(readFileSync('binaries/opt/app/server'), path) : undefined;
  }
  async openJitFile(path: string, writer: RecordedProcess | undefined): Promise<JitFile | undefined> {
    return writer?.pid === 0 ? undefined : { source: undefined, remark: path };
  }
  async stamp(_path: string): Promise<FileStamp | undefined> {
    return undefined;
  }
  async fetch(_buildId: string, kind: DebugFileKind): Promise<FetchedFile> {
    return { source: undefined, places: [{ place: kind, outcome: 'failed', detail: '' }] };
  }
  async decompress(compression: Compression, bytes: Uint8Array, maxOutputLength: number): Promise<Uint8Array> {
    if (compression !== 'gzip') throw new Error(compression);
    return gunzipSync(bytes, { maxOutputLength });
  }
  async ownVdso(): Promise<ByteSource | undefined> {
    return undefined;
  }
  async runningKernel(): Promise<undefined> {}
  defaultBuildIdDir(): undefined {}
}

/** The files of this machine, and those of a server of one's own. */
class MoreFiles extends NodeSymbolFiles {
  override async fetch(_buildId: string, kind: DebugFileKind): Promise<FetchedFile> {
    return { source: undefined, places: [{ place: 'own server', outcome: 'absent', detail: kind }] };
  }
}
const asked: SymbolFiles = new MoreFiles();
console.log((await asked.fetch?.('1234', 'executable'))?.places[0].place);

const search = new SymbolSearch();
const symbolizer = new Symbolizer(new OwnFiles(), { debugDirs: [], compatPerf: false }, new Diagnostics());
const symbols: RecordingSymbols = symbolizer.forRecording({});
const code = await symbols.symbolsFor({ name: '/opt/app/server', kind: 'file', buildId: '', osRelease: '' }, { lines: true, search });
console.log('lines:', code?.lines !== undefined);
await code?.close?.();
for (const { outcome, place, uses } of search.places) if (outcome === 'fits') console.log(outcome, place, uses.join());
`;

const CONSUMER = `
import { demangle, type PerfRecord, PerfconvError, type ProfileOptions } from 'perfconv';
import { openRecording, PerfconvError as PerfconvErrorOfNode } from 'perfconv/node';
import { demangle as demangleAlone } from 'perfconv/demangle';
import { ProfileSchema } from 'perfconv/profile_pb';
import { type CodeObject, PerfconvError as PerfconvErrorOfSymbols } from 'perfconv/symbols';

// @ts-expect-error: declarations are found, so that this is seen
const code: PerfconvError['code'] = 'no such code';
// @ts-expect-error: the same of code
const kind: CodeObject['kind'] = 'no such kind';
// @ts-expect-error: the same of options
const options: ProfileOptions = { symbols: 1 };
// @ts-expect-error: the same of records
const type: PerfRecord['type'] = 'no such type';
let isSame = false;
try {
  await openRecording('there is no such file');
} catch (error) {
  isSame = error instanceof PerfconvError && PerfconvError === PerfconvErrorOfNode && PerfconvError === PerfconvErrorOfSymbols;
}
console.log(JSON.stringify([isSame, demangle === demangleAlone, ProfileSchema.typeName]));
`;

/** Reads gzip in its parts and simpleperf's symbols, as a module worker has to, which finds no packages. */
const WITHOUT_PACKAGES = `
import { readFileSync } from 'node:fs';
import { openRecording } from './dist/index.js';

for (const name of ['packed.data', 'simpleperf.data']) {
  const recording = await openRecording(readFileSync(name));
  const profile = await recording.profile();
  console.log(new TextDecoder().decode(await profile.toBytes('folded')).split('\\n')[0]);
}
`;

/** A recording of simpleperf whose symbols are in protobuf. */
function simpleperfRecording(): Uint8Array {
  const symbols = [{ vaddr: 0x25000n, len: 0x100, name: 'callee' }];
  const files = [{ path: LIB, type: dsoType.elf, minVaddr: 0x24000n, offsetOfMinVaddr: 0x4000n, symbols }];
  const records = [comm, libMap, sampleAt(10n, [context.user, 0x7000_1010n])];
  return encodeFile({ attrs: [CLOCK], records, foreignFeatures: [META, simpleperfFeatures.file2(files)] });
}

describe('a user of the package', () => {
  test('needs no package for any recording, so that no bundler or import map has to find one', () => {
    const alone = mkdtempSync(join(tmpdir(), 'perfconv-alone-'));
    try {
      cpSync(join(dir, 'node_modules/perfconv/dist'), join(alone, 'dist'), { recursive: true });
      writeFileSync(join(alone, 'package.json'), JSON.stringify({ type: 'module' }));
      writeFileSync(join(alone, 'program.js'), WITHOUT_PACKAGES);
      writeFileSync(join(alone, 'packed.data'), gzipSync(readFileSync(join(root, 'fixtures/plain.data'))));
      writeFileSync(join(alone, 'simpleperf.data'), simpleperfRecording());
      const printed = execFileSync(process.execPath, ['program.js'], { cwd: alone, encoding: 'utf8' }).trimEnd().split('\n');
      expect(printed).toEqual(['threads;[kernel.kallsyms]_[k] 10000000', 'app;callee 250000']);
    } finally {
      rmSync(alone, { recursive: true, force: true });
    }
  });

  test('needs no types of Node in a page', () => {
    compile([PAGE], { ...RESOLUTIONS[0][1], types: [], lib: ['es2022', 'dom'] });
  });

  test.each([...RESOLUTIONS, ['nodenext', { module: 'nodenext', moduleResolution: 'nodenext' }] as const])(
    'gets types and one copy of everything, resolved as %s',
    (_, compilerOptions) => {
      compile([CONSUMER], compilerOptions);
      expect(JSON.parse(run(['out/program-0.js']))).toEqual([true, true, 'perftools.profiles.Profile']);
    },
  );
});
