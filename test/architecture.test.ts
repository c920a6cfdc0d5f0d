import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const src = fileURLToPath(new URL('../src', import.meta.url));

/**
 * What each room may import: the arrows of the picture in the design, and no others. `root` are the files of src/
 * itself that put the rooms together (convert.ts, read-profile.ts …); addresses, errors, exact integers, diagnostics and printable are leaves for all.
 */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  leaf: [],
  bytes: [],
  intern: [],
  perfdata: ['bytes'],
  session: ['perfdata', 'bytes', 'intern'],
  symbols: ['bytes', 'intern'],
  unwind: ['symbols', 'bytes', 'intern'],
  profile: ['intern'],
  // CSV takes the rows of stats; what it takes from there is asked for below.
  writers: ['profile', 'bytes', 'intern', 'stats'],
  stats: ['session', 'perfdata', 'intern'],
  info: ['session', 'perfdata'],
  root: ['info', 'session', 'perfdata', 'symbols', 'unwind', 'stats', 'profile', 'writers', 'bytes', 'intern'],
  host: ['bytes', 'perfdata', 'symbols'],
  cli: ['root', 'host', 'bytes'],
  // Generated types: published beside the library, used by none of it.
  proto: [],
};

const LEAVES = ['addresses.ts', 'errors.ts', 'exact-integer.ts', 'diagnostics.ts', 'printable.ts'];
/** Rooms of what runs in Node only. */
const NODE_ROOMS = ['host', 'cli'];

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

/** What a module's text imports: statically, for the types alone, by `export … from`, by `import()`. */
function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)].map((match) => match[1]);
}

/** The files that import one. */
function importersOf(file: string): string[] {
  return imports.filter((one) => one.specifier.startsWith('.') && join(dirname(one.file), one.specifier).split(sep).join('/') === file).map((one) => one.file);
}

function roomOf(file: string): string {
  const slash = file.indexOf('/');
  if (slash >= 0) return file.slice(0, slash);
  return LEAVES.includes(file) ? 'leaf' : 'root';
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

  test('run one way, along the arrows', () => {
    const wrong = imports.filter((one) => {
      const target = targetOf(one);
      if (target === undefined) return false;
      const [from, to] = [roomOf(one.file), roomOf(target)];
      return from !== to && to !== 'leaf' && !ARROWS[from]?.includes(to);
    });
    expect(wrong.map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([]);
  });

  test('writers take nothing from stats but for CSV', () => {
    const takers = imports.filter((one) => roomOf(one.file) === 'writers' && targetOf(one)?.startsWith('stats/')).map((one) => one.file);
    expect(takers.filter((file) => !file.startsWith('writers/csv'))).toEqual([]);
  });

  test('every room is on the picture', () => {
    expect([...new Set(files.map(roomOf))].filter((room) => !(room in ARROWS))).toEqual([]);
  });

  test('go round in no circle', () => {
    const targets = new Map(files.map((file) => [file, imports.filter((one) => one.file === file).map(targetOf)]));
    const done = new Set<string>();
    const circles: string[] = [];
    const walk = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      if (done.has(file) || path.includes(file)) return;
      for (const target of targets.get(file) ?? []) if (target !== undefined) walk(target, [...path, file]);
      done.add(file);
    };
    for (const file of files) walk(file, []);
    expect(circles).toEqual([]);
  });
});

describe('what runs in a browser, too', () => {
  const portable = files.filter((file) => !NODE_ROOMS.includes(roomOf(file)));

  test('imports nothing of Node', () => {
    expect(imports.filter(({ file, specifier }) => portable.includes(file) && specifier.startsWith('node:'))).toEqual([]);
  });

  test('uses no global of Node', () => {
    expect(
      portable.filter((file) => /\bprocess\.(argv|env|platform|cwd|hrtime|memoryUsage)\b|\bBuffer\.(from|alloc)|\b__dirname\b|\brequire\(/.test(textOf(file))),
    ).toEqual([]);
  });

  test('imports packages that run there', () => {
    const packages = imports.filter(({ file, specifier }) => portable.includes(file) && !specifier.startsWith('.') && !specifier.startsWith('node:'));
    expect([...new Set(packages.map(({ specifier }) => specifier))].filter((name) => !name.startsWith('@bufbuild/protobuf'))).toEqual([]);
  });
});

test('only the command line prints and exits', () => {
  const isForbidden = (text: string): boolean => /\bconsole\.|\bprocess\.(exit\b|exitCode|stdout|stderr)/.test(text);
  expect(isForbidden('process.exit(1)') && isForbidden('console.log(1)')).toBe(true);
  expect(files.filter((file) => roomOf(file) !== 'cli' && isForbidden(textOf(file)))).toEqual([]);
});

test('each of the terminal’s streams has one place that writes to it, and makes names fit for it', () => {
  const writersTo = (stream: RegExp): string[] => files.filter((file) => roomOf(file) === 'cli' && stream.test(textOf(file)));
  expect(writersTo(/\bstderr\.write\(/)).toEqual(['cli/standard-error.ts']);
  expect(writersTo(/\bterminal\.stdout\.write\(|\bnew WritableSink\(|\bopenStandardOutput\(/)).toEqual(['cli/standard-output.ts']);
});

describe('what a recording says', () => {
  test('starts no program and becomes no code', () => {
    const runs = imports.filter(({ specifier }) => /^(node:)?(child_process|vm|cluster)$/.test(specifier)).map(({ file }) => file);
    const evaluates = files.filter((file) => /\beval\(|\bnew Function\(/.test(textOf(file)));
    expect([...runs, ...evaluates]).toEqual([]);
    // The program itself runs in a thread; what it runs there stands in its own text.
    const threads = files.filter((file) => /\bnew Worker\(/.test(textOf(file)));
    expect(threads).toEqual(['host/work-thread.ts']);
    expect(importersOf('host/work-thread.ts')).toEqual(['cli/entry.ts']);
    expect(textOf('cli/entry.ts')).toContain("runInThread(new URL('./worker.js', import.meta.url)");
  });

  test('names no file that is written: only outputs are, a temporary file that has no name, and the hex digits of build ids in a cache', () => {
    const writes =
      /\b(openSync|openDescriptor|open)\([^)]*'(w|wx|a|ax|r\+|w\+|wx\+)'|\b(writeFile|appendFile|createWriteStream|rename|mkdir|mkdtemp|unlink|link|symlink|copyFile|truncate)(Sync)?\(|\bO_(WRONLY|RDWR|CREAT)\b/;
    const writers = files.filter((file) => NODE_ROOMS.includes(roomOf(file)) && writes.test(textOf(file)));
    expect(writers.sort()).toEqual(['host/debuginfod-cache.ts', 'host/output-commit.ts', 'host/output-stage.ts', 'host/overwrite.ts', 'host/spill.ts']);
  });
});
