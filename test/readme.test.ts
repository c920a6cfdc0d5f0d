import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../src/cli/command-line/commands.ts';
import { parseCommandLine } from '../src/cli/command-line/parse.ts';
import { exampleRecording } from './support/builders/recordings/example-recording.ts';
import { encodeFile, encodePipe } from './support/builders/recordings/perf-encoder.ts';
import { type Call, callsOf, commandsOf } from './support/programs/doc-commands.ts';
import { runMain } from './support/programs/run-main.ts';

// The README and the pages under docs/: their commands run, the output that they show is real, and their links work.

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (page: string): string => readFileSync(join(root, page), 'utf8');
const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const PAGES = ['README.md', ...docs.map((name) => `docs/${name}`)];
const FURTHER_PAGES = ['CHANGELOG.md', 'CONTRIBUTING.md', 'bench/symbols/README.md', 'fixtures/PROVENANCE.md', 'fixtures/fuzz/README.md', 'proto/README.md'];
const LINKING_PAGES = [...PAGES, ...FURTHER_PAGES];

const COMMAND_LINES = PAGES.flatMap((page) => commandsOf(read(page)).map((shown) => ({ page, ...shown })));
const SCRIPTS: Readonly<Record<string, string>> = JSON.parse(read('package.json')).scripts;

/** Other programs that pages may show. They are not started here. */
const OTHERS = new Set([
  'cp',
  'curl',
  'diff',
  'flamegraph.pl',
  'go',
  'jq',
  'mkdir',
  'node',
  'npm',
  'parca-push',
  'perf',
  'sed',
  'sort',
  'source',
  'tail',
  'tar',
]);

/** Options of other programs that the pages explain. */
const FOREIGN_OPTIONS: readonly string[] = [
  ...['add-counter', 'no-unwind', 'trace-offcpu'], // simpleperf
  ...['dedup_stack', 'offcpu'], // hiperf
  'feature-gates', // OpenTelemetry Collector
  ...[
    'buildid-mmap',
    'call-graph',
    'comms',
    'dsos',
    'guest-data',
    'header',
    'header-only',
    'hide-call-graph',
    'itrace',
    'jit',
    'kcore',
    'no-children',
    'off-cpu',
    'off-cpu-thresh',
    'overwrite',
    'per-thread',
    'sample-cpu',
    'show-mmap-events',
    'show-task-events',
    'show-total-period',
    'stats',
    'stdio',
    'switch-events',
    'switch-off',
    'switch-on',
    'symbols',
    'synth',
    'threads',
  ], // perf
  ...[
    'allow-fs-read',
    'allow-worker',
    'disable-wasm-trap-handler',
    'interpreted-frames-native-stack',
    'jitless',
    'max-inlined-bytecode-size-cumulative',
    'permission',
  ],
  ...['perf-basic-prof', 'perf-prof', 'use-largepages'], // Node
  ...['js-flags', 'no-sandbox'], // Chromium
  ...['profile', 'v8-flags', 'jitmap'], // Wasmtime, Deno, Mono
  ...['debug-dump'], // readelf
  ...['override-timestamp', 'color', 'countname', 'kernel'], // parca-push, flamegraph.pl, stackcollapse-perf.pl
  ...['seconds', 'time'], // the fuzzer, benchmarks
];

test('the README has at most 150 lines', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
});

test('pictures are below 150 KB', () => {
  const images = readdirSync(join(root, 'docs/images'));
  expect(images.filter((name) => statSync(join(root, 'docs/images', name)).size > 150_000)).toEqual([]);
});

test('every picture is on a page', () => {
  const shown = PAGES.flatMap((page) => linksOf(read(page)).map(({ path }) => join(dirname(page), path)));
  const images = readdirSync(join(root, 'docs/images')).map((name) => join('docs/images', name));
  expect(images.filter((path) => !shown.includes(path))).toEqual([]);
});

test('every page of docs/ is linked from the README', () => {
  const linked = linksOf(read('README.md')).map(({ path }) => path);
  expect(docs.filter((name) => !linked.includes(`docs/${name}`))).toEqual([]);
});

describe('commands in the documentation', () => {
  let dir: string;
  const before = process.cwd();
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'perfconv-docs-'));
    fillWorkingDirectory(dir);
    process.chdir(dir);
  });
  afterAll(() => {
    process.chdir(before);
    rmSync(dir, { recursive: true, force: true });
  });

  test.each(COMMAND_LINES)('run, and print what the page shows: $page: $command', async ({ command, output }) => {
    let printed = '';
    for (const call of callsOf(command)) printed = await run(call, printed);
    if (output === undefined) return;
    const lines = printed === '' ? [] : printed.trimEnd().split('\n');
    const isWhole = output.at(-1) !== '…';
    expect(isWhole ? lines : lines.slice(0, output.length - 1)).toEqual(isWhole ? output : output.slice(0, -1));
  });

  test.each(PAGES)('have only options that exist, even within text: %s', (page) => {
    for (const [, code] of withoutBlocks(read(page)).matchAll(/`((?:npx )?perfconv [^`]+)`/g)) {
      for (const { program, args } of callsOf(code)) if (program === 'perfconv') expect(() => parseCommandLine(args)).not.toThrow();
    }
  });

  /** Runs a program of a command line, and returns what it prints. */
  async function run({ program, args, isPiped }: Call, piped: string): Promise<string> {
    if (program === 'perfconv') return runPerfconv(args, isPiped);
    if (program === 'grep') return lines(piped, (line) => line.includes(args[0]));
    if (program === 'head') return lines(args.length > 2 ? readFileSync(args[2], 'utf8') : piped, (_, index) => index < Number(args[1]));
    if (program === 'npm') expect(args[0] === 'install' || SCRIPTS[args[0] === 'run' ? args[1] : args[0]]).toBeTruthy();
    else if (program === 'node') expect(existsSync(join(root, args[0]))).toBe(true);
    else if (program.includes('/')) expect(existsSync(join(root, program))).toBe(true);
    else expect([...OTHERS]).toContain(program);
    return '';
  }

  async function runPerfconv(words: readonly string[], isPiped: boolean): Promise<string> {
    // The network is not used, not even this machine's own.
    if (words.includes('--debuginfod') || words[0] === 'view') {
      expect(() => parseCommandLine(words)).not.toThrow();
      return '';
    }
    const args = words.map((word) => word.replace(/^\/(?=mnt\/)/, `${dir}/`));
    const result = await runMain(args, { ...(isPiped && { stdin: encodePipe(exampleRecording()) }), env: { HOME: join(dir, 'home') } });
    expect(result).toMatchObject({ status: 0, stderr: expect.not.stringMatching(/data lost|changes nothing|error/) });
    return result.stdout.toString();
  }
});

describe('all relative links lead to a file, and to a heading in it, in', () => {
  test.each(LINKING_PAGES)('%s', (page) => {
    const broken = linksOf(read(page)).filter(({ path, anchor }) => {
      const target = join(root, dirname(page), path === '' ? page.slice(page.lastIndexOf('/') + 1) : path);
      if (!existsSync(target)) return true;
      return anchor !== undefined && !anchorsOf(readFileSync(target, 'utf8')).includes(anchor);
    });
    expect(broken).toEqual([]);
  });
});

test('CONTRIBUTING.md names only files and identifiers that there are', () => {
  const inFolders = ['assembly', 'bench', 'fuzz', 'src', 'test', 'tools', 'viewer'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path).split(sep).join('/')),
  );
  const paths = [...readdirSync(root), ...inFolders];
  const words = new Set(paths.filter((path) => /\.(?:ts|mjs)$/.test(path)).flatMap((path) => read(path).match(/[A-Za-z_$][\w$]*/g) ?? []));
  // An example of how a field is named.
  words.add('residencyNs');
  const codes = [...withoutBlocks(read('CONTRIBUTING.md')).matchAll(/`([\w.#/-]+)`/g)].map(([, code]) => code);
  const files = codes.filter((code) => /\w\.(?:ts|mjs)$/.test(code));
  const identifiers = codes.filter((code) => !files.includes(code)).flatMap((code) => code.match(/[A-Za-z]*[a-z][A-Z]\w*/g) ?? []);
  expect(files.filter((file) => !paths.some((path) => path === file || path.endsWith(`/${file}`)))).toEqual([]);
  expect(identifiers.filter((word) => !words.has(word))).toEqual([]);
  expect(Math.min(files.length, identifiers.length)).toBeGreaterThan(50);
});

test("options in the documentation are perfconv's, or known to be another program's", () => {
  const known = new Set(['help', 'version', ...COMMANDS.flatMap(({ options }) => options.map(({ name }) => name)), ...FOREIGN_OPTIONS]);
  const named = PAGES.flatMap((page) =>
    [...withoutBlocks(read(page)).matchAll(/`[^`\n]+`/g)].flatMap(([code]) => [...code.matchAll(/(?<![\w-])--([a-z][\w-]*)(?!…)\b/g)]),
  );
  expect([...new Set(named.map(([, name]) => name))].filter((name) => !known.has(name))).toEqual([]);
});

interface Link {
  /** Empty if the link stays on its page. */
  readonly path: string;
  readonly anchor: string | undefined;
}

function linksOf(markdown: string): Link[] {
  const targets = [...withoutBlocks(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);
  return targets.filter((target) => !/^[a-z]+:/.test(target)).map((target) => ({ path: target.replace(/#.*/, ''), anchor: /#(.*)/.exec(target)?.[1] }));
}

/** The anchors that GitHub gives to headings. */
function anchorsOf(markdown: string): string[] {
  return [...withoutBlocks(markdown).matchAll(/^#+ (.*)$/gm)].map(([, text]) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  );
}

function withoutBlocks(markdown: string): string {
  return markdown.replaceAll(/^```[\s\S]*?^```$/gm, '');
}

function lines(text: string, isWanted: (line: string, index: number) => boolean): string {
  return text.trimEnd().split('\n').filter(isWanted).join('\n');
}

/** Creates the files that commands in the pages name. */
function fillWorkingDirectory(dir: string): void {
  const bytes = encodeFile(exampleRecording());
  symlinkSync(join(root, 'fixtures'), join(dir, 'fixtures'), 'junction');
  for (const name of ['home', 'mnt/target', 'threads.data']) mkdirSync(join(dir, name), { recursive: true });
  for (const name of ['perf.data', 'web.data', 'monday.data', 'tuesday.data', 'perf.data.guest', 'threads.data/data']) writeFileSync(join(dir, name), bytes);
  writeFileSync(join(dir, 'web.data.gz'), gzipSync(bytes));
  const kernel = 'ffffffff81000000 T _text\nffffffff81000010 T start_kernel\n';
  for (const name of ['target.kallsyms', 'guest.kallsyms']) writeFileSync(join(dir, name), kernel);
  writeFileSync(join(dir, 'guest.modules'), 'kvm 1048576 0 - Live 0xffffffffc0000000\n');
}
