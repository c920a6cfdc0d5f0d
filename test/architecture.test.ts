import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const src = fileURLToPath(new URL('../src', import.meta.url));

/**
 * Everything that each room may import: the picture in CONTRIBUTING.md leaves out arrows that only skip a room. `base` is not in the lists, because every
 * room may import it.
 * `entries` are the modules at the root of src/, which only export what others contain.
 */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  // Libraries over bytes.
  zstd: [],
  unwrap: ['zstd'],
  spe: [],
  tracing: [],
  jitdump: [],
  simpleperf: [],
  // Reads the same kind of files.
  hiperf: ['simpleperf'],
  demangle: [],
  'symbol-table': ['demangle'],
  elf: ['symbol-table'],
  dwarf: ['elf', 'symbol-table'],
  gopclntab: ['elf', 'symbol-table'],
  unwind: ['elf', 'dwarf', 'gopclntab'],
  // The recording.
  perfdata: ['zstd', 'simpleperf', 'hiperf', 'tracing'],
  session: ['perfdata', 'simpleperf', 'hiperf', 'tracing', 'jitdump', 'spe', 'profile', 'unwind'],
  // The code that it names.
  symbolizer: ['dwarf', 'gopclntab', 'elf', 'symbol-table', 'unwind'],
  naming: ['session', 'perfdata', 'symbolizer', 'symbol-table', 'demangle', 'jitdump', 'tracing', 'profile'],
  // What is made from them.
  profile: [],
  stats: ['session', 'perfdata'],
  // CSV reads the rows of stats; a test below keeps other writers from it.
  writers: ['profile', 'stats'],
  pipeline: ['naming', 'symbolizer', 'session', 'perfdata', 'profile', 'stats', 'writers', 'info', 'jitdump', 'demangle'],
  records: ['session', 'perfdata'],
  info: ['session', 'perfdata', 'hiperf', 'profile'],
  host: ['perfdata', 'symbolizer', 'elf', 'jitdump', 'unwrap'],
  web: ['symbolizer', 'elf', 'unwrap', 'zstd'],
  // What users call: in a browser, in Node, on a command line.
  library: ['pipeline', 'records', 'info', 'naming', 'session', 'perfdata', 'symbolizer', 'profile', 'writers', 'demangle', 'unwrap'],
  node: ['library', 'pipeline', 'host'],
  cli: ['library', 'pipeline', 'records', 'info', 'naming', 'host'],
  // Generated types, which are published beside the library but not used in it.
  proto: [],
};

/** The modules at the root of src/: what package.json exports. */
const ENTRIES = ['demangle.ts', 'index.ts', 'node.ts', 'symbols.ts', 'unwind.ts'];
/** Rooms whose folders import each other one way, too. */
const LAYERED_ROOMS = ['base', 'cli', 'demangle', 'dwarf', 'elf', 'host', 'perfdata', 'session', 'symbolizer', 'unwind'];
/** Rooms whose code runs only in Node. */
const NODE_ROOMS = ['host', 'node', 'cli'];

interface Import {
  readonly file: string;
  readonly specifier: string;
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map((path) => path.split(sep).join('/'))
  .filter((path) => path.endsWith('.ts'));
const textOf = (file: string): string =>
  readFileSync(resolve(src, file), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '');
const imports = files.flatMap((file) => importsOf(textOf(file)).map((specifier): Import => ({ file, specifier })));

/** What a module's text imports: statically, only for types, with `export … from`, or with `import()`. */
function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)].map((match) => match[1]);
}

/** The files that import a file. */
function importersOf(file: string): string[] {
  return imports.filter((one) => one.specifier.startsWith('.') && join(dirname(one.file), one.specifier).split(sep).join('/') === file).map((one) => one.file);
}

function roomOf(file: string): string {
  const slash = file.indexOf('/');
  return slash >= 0 ? file.slice(0, slash) : 'entries';
}

/** The circles in a graph: a node's targets are what it imports. */
function cyclesOf(targets: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const circles: string[] = [];
  const walk = (node: string, path: readonly string[]): void => {
    if (path.includes(node)) circles.push([...path.slice(path.indexOf(node)), node].join(' → '));
    if (done.has(node) || path.includes(node)) return;
    for (const target of targets.get(node) ?? []) walk(target, [...path, node]);
    done.add(node);
  };
  for (const node of targets.keys()) walk(node, []);
  return circles;
}

function targetOf({ file, specifier }: Import): string | undefined {
  return specifier.startsWith('.')
    ? relative(src, resolve(src, dirname(file), specifier))
        .split(sep)
        .join('/')
    : undefined;
}

describe('imports', () => {
  test('are found in every form', () => {
    const text =
      "import a from './a.ts';\nimport './b.ts';\nexport * from \"./c.ts\";\nconst d = await import('./d.ts');\nimport {\n  type E,\n} from './e.ts';\nlet f: typeof import('./f.ts').f;";
    expect(importsOf(text)).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts', './f.ts']);
    expect(imports.length).toBeGreaterThan(files.length);
  });

  test('follow the arrows', () => {
    const wrong = imports.filter((one) => {
      const target = targetOf(one);
      if (target === undefined) return false;
      const [from, to] = [roomOf(one.file), roomOf(target)];
      return from !== to && to !== 'base' && from !== 'entries' && !ARROWS[from]?.includes(to);
    });
    expect(wrong.map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([]);
  });

  test('from stats are only in the CSV writer, of all writers', () => {
    const takers = imports.filter((one) => roomOf(one.file) === 'writers' && targetOf(one)?.startsWith('stats/')).map((one) => one.file);
    expect(takers.filter((file) => !file.startsWith('writers/csv/'))).toEqual([]);
  });

  test('are listed for every room', () => {
    expect([...new Set(files.map(roomOf))].filter((room) => room !== 'entries' && !(room in ARROWS))).toEqual([]);
  });

  test('exist for every arrow', () => {
    const gone = new Set(imports.map((one) => `${roomOf(one.file)} → ${roomOf(targetOf(one) ?? '')}`));
    const drawn = Object.entries(ARROWS).flatMap(([from, targets]) => targets.map((to) => `${from} → ${to}`));
    expect(drawn.filter((arrow) => !gone.has(arrow))).toEqual([]);
  });

  test('at the root are only those of entries, which just re-export', () => {
    expect(files.filter((file) => roomOf(file) === 'entries').sort()).toEqual(ENTRIES);
    const statements = ENTRIES.map((file) =>
      textOf(file)
        .replace(/export (type )?(\{[^}]*\}|\*) from '[^']+';/g, '')
        .trim(),
    );
    expect(statements).toEqual(ENTRIES.map(() => ''));
  });

  test('form no cycles', () => {
    expect(cyclesOf(new Map(files.map((file) => [file, imports.filter((one) => one.file === file).flatMap((one) => targetOf(one) ?? [])])))).toEqual([]);
  });

  test('form no cycles between the folders of a room', () => {
    for (const room of LAYERED_ROOMS) {
      const targets = new Map<string, string[]>();
      for (const one of imports) {
        const target = targetOf(one);
        if (target === undefined || roomOf(one.file) !== room || roomOf(target) !== room || dirname(one.file) === dirname(target)) continue;
        targets.set(dirname(one.file), [...(targets.get(dirname(one.file)) ?? []), dirname(target)]);
      }
      expect(targets.size, room).toBeGreaterThan(1);
      expect(cyclesOf(targets)).toEqual([]);
    }
  });
});

describe('code that also runs in browsers', () => {
  const portable = files.filter((file) => !NODE_ROOMS.includes(roomOf(file)) && file !== 'node.ts');

  test('imports nothing of Node', () => {
    expect(imports.filter(({ file, specifier }) => portable.includes(file) && specifier.startsWith('node:'))).toEqual([]);
  });

  test('uses no global of Node', () => {
    expect(
      portable.filter((file) => /\bprocess\.(argv|env|platform|cwd|hrtime|memoryUsage)\b|\bBuffer\.(from|alloc)|\b__dirname\b|\brequire\(/.test(textOf(file))),
    ).toEqual([]);
  });

  test('imports only packages that run there', () => {
    const packages = imports.filter(({ file, specifier }) => portable.includes(file) && !specifier.startsWith('.') && !specifier.startsWith('node:'));
    expect(
      [...new Set(packages.map(({ specifier }) => specifier))].filter(
        (name) => name !== 'xz-decompress' && name !== 'pako' && !name.startsWith('@bufbuild/protobuf'),
      ),
    ).toEqual([]);
  });
});

describe('the pages in viewer/', () => {
  const folder = fileURLToPath(new URL('../viewer', import.meta.url));
  const own = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => path.endsWith('.ts'));
  const pageText = (file: string): string => readFileSync(resolve(folder, file), 'utf8');

  test('import nothing of src/ but the declaration of their data, or the library and what it is based on, and each part only what is below it', () => {
    const targets = own.flatMap((file) =>
      importsOf(pageText(file)).map((specifier) => [
        file,
        relative(folder, resolve(folder, dirname(file), specifier))
          .split(sep)
          .join('/'),
      ]),
    );
    // What the page has to know of formats and files before it loads the library.
    const FACTS = ['../src/pipeline/formats.ts', '../src/perfdata/directory-recording.ts'];
    const isAllowed = (file: string, target: string): boolean => {
      if (file.startsWith('converter/') && (/^\.\.\/src\/(?:base|unwrap)\//.test(target) || FACTS.includes(target))) return true;
      if (file.startsWith('converter/')) return own.includes(target) || target === '../src/index.ts';
      if (target === '../src/writers/html/page-data.ts') return true;
      return own.includes(target) && !target.startsWith('converter/') && (target.startsWith('model/') || !file.startsWith('model/'));
    };
    expect(targets.filter(([file, target]) => !isAllowed(file, target))).toEqual([]);
    expect(targets.length).toBeGreaterThan(own.length);
  });

  test('never make markup or code of texts', () => {
    const makes =
      /\b(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment)\b|\beval\(|\bFunction\(|\.(?:setAttribute|setAttributeNS)\('(?:style|href|src|on)/;
    expect(own.filter((file) => makes.test(pageText(file)))).toEqual([]);
  });
});

test('only the command line prints and exits', () => {
  const isForbidden = (text: string): boolean => /\bconsole\.|\bprocess\.(exit\b|exitCode|stdout|stderr)/.test(text);
  expect(isForbidden('process.exit(1)') && isForbidden('console.log(1)')).toBe(true);
  expect(files.filter((file) => roomOf(file) !== 'cli' && isForbidden(textOf(file)))).toEqual([]);
});

test('each of the terminal’s streams is written in one place, which makes names fit for it', () => {
  const writersTo = (stream: RegExp): string[] => files.filter((file) => roomOf(file) === 'cli' && stream.test(textOf(file)));
  expect(writersTo(/\bstderr\.write\(/)).toEqual(['cli/printing/standard-error.ts']);
  expect(writersTo(/\bterminal\.stdout\.write\(|\bnew WritableSink\(|\bopenStandardOutput\(/)).toEqual(['cli/printing/standard-output.ts']);
});

describe('the contents of a recording', () => {
  test('never start a program or become code', () => {
    const runs = new Set(imports.filter(({ specifier }) => /^(node:)?(child_process|vm|cluster)$/.test(specifier)).map(({ file }) => file));
    const evaluates = files.filter((file) => /\beval\(|\bnew Function\(/.test(textOf(file)));
    expect(evaluates).toEqual([]);
    // perfconv itself is a script that runs in a thread; what it loads is in its own text.
    expect([...runs].sort()).toEqual(['host/program/code-cache.ts', 'host/server/browser.ts']);
    // The user's browser gets an address of this machine, in which nothing is of the recording.
    expect(importersOf('host/server/browser.ts')).toEqual(['cli/commands/view-command.ts']);
    expect(textOf('cli/commands/view-command.ts')).toContain('openInBrowser(server.ticketUrl, terminal.env,');
    expect(importersOf('host/program/code-cache.ts')).toEqual(['cli/run-program.ts']);
    expect(textOf('cli/run-program.ts')).toContain("loadScript<Program>(fileURLToPath(new URL('./program.cjs', import.meta.url))");
    const threads = files.filter((file) => /\bnew Worker\(/.test(textOf(file)));
    expect(threads).toEqual(['host/program/work-thread.ts']);
    expect(importersOf('host/program/work-thread.ts')).toEqual(['cli/entry.ts']);
    expect(textOf('cli/entry.ts')).toContain("runInThread(new URL('./worker.cjs', import.meta.url)");
  });

  test('never name a file that is written: only outputs, a nameless temporary file, compiled code, and files named by build id in a cache are', () => {
    const writes =
      /\b(openSync|openDescriptor|open)\([^)]*'(w|wx|a|ax|r\+|w\+|wx\+)'|\b(writeFile|appendFile|createWriteStream|rename|mkdir|mkdtemp|unlink|link|symlink|copyFile|truncate)(Sync)?\(|\bO_(WRONLY|RDWR|CREAT)\b/;
    const writers = files.filter((file) => NODE_ROOMS.includes(roomOf(file)) && writes.test(textOf(file)));
    expect(writers.sort()).toEqual([
      'host/input/spill.ts',
      'host/output/output-commit.ts',
      'host/output/output-stage.ts',
      'host/output/overwrite.ts',
      'host/program/code-cache.ts',
      'host/symbols/debuginfod-cache.ts',
    ]);
  });
});
