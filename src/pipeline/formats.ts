/** The formats that a recording can be converted to, by the names that `-t` accepts. */
export const FORMATS = ['pprof', 'speedscope', 'chrome', 'cpuprofile', 'csv', 'script', 'folded', 'firefox', 'html', 'parquet', 'otlp'] as const;

/** One of {@link FORMATS}. */
export type Format = (typeof FORMATS)[number];

/** A format that is one stream of bytes; CSV is a directory of tables. */
export type StreamFormat = Exclude<Format, 'csv'>;

/** Formats that can show wall-clock time. */
export const WALL_CLOCK_FORMATS: readonly Format[] = ['script', 'chrome', 'speedscope'];

/** Formats that are not text. */
export const BINARY_FORMATS: readonly Format[] = ['pprof', 'parquet', 'otlp'];

/** A format, and whether its bytes are compressed. */
export interface OutputFormat {
  readonly format: Format;
  readonly gzip: boolean;
}

/** Endings of outputs' names, in lower case and without a further `.gz`. `.pprof` profiles are always compressed. */
const SUFFIXES: readonly (readonly [suffix: string, format: Format, gzip: boolean])[] = [
  ['.pprof', 'pprof', true],
  ['.pb', 'pprof', false],
  ['.speedscope.json', 'speedscope', false],
  ['.trace.json', 'chrome', false],
  ['.cpuprofile', 'cpuprofile', false],
  ['.csv', 'csv', false],
  ['.txt', 'script', false],
  ['.folded', 'folded', false],
  ['.firefox.json', 'firefox', false],
  ['.html', 'html', false],
  ['.parquet', 'parquet', false],
  ['.otlp', 'otlp', false],
];

/** The default ending of a format's files. */
const DEFAULT_SUFFIX: Readonly<Record<Format, string>> = {
  pprof: '.pb.gz',
  speedscope: '.speedscope.json',
  chrome: '.trace.json',
  cpuprofile: '.cpuprofile',
  csv: '.csv',
  script: '.txt',
  folded: '.folded',
  firefox: '.firefox.json',
  html: '.html',
  parquet: '.parquet',
  otlp: '.otlp',
};

/** The default endings of files, in the order of {@link FORMATS}. */
export const DEFAULT_SUFFIXES: readonly string[] = FORMATS.map((format) => DEFAULT_SUFFIX[format]);

/** The format that an output's name asks for; undefined if it asks for none. A name that ends in a slash is a directory: CSV. */
export function outputFormatOf(path: string): OutputFormat | undefined {
  if (/[/\\]$/.test(path)) return { format: 'csv', gzip: false };
  const { name, isCompressed } = withoutGz(path);
  const found = SUFFIXES.find(([suffix]) => name.endsWith(suffix));
  if (found === undefined) return undefined;
  const [, format, gzip] = found;
  return { format, gzip: gzip || isCompressed };
}

/** Whether an output is compressed if its format was not chosen by its name: as the name says; pprof also if the name does not say. */
export function isGzipped(format: Format, path: string): boolean {
  const { name, isCompressed } = withoutGz(path);
  return isCompressed || (format === 'pprof' && !name.endsWith('.pb'));
}

/** The default name of an input's output: `perf.data`, `perf.data.gz` and `perf.data/` → `perf.pb.gz`, `web.perf` → `web.perf.pb.gz`. */
export function defaultOutputName(inputName: string, format: Format): string {
  const name = inputName.replace(/(?<=[^/\\])[/\\]+$/, '');
  return name.replace(/(?<=[^/\\])\.data(\.(gz|zst|xz))?$/, '') + DEFAULT_SUFFIX[format];
}

function withoutGz(path: string): { name: string; isCompressed: boolean } {
  const name = path.toLowerCase();
  const isCompressed = name.endsWith('.gz');
  return { name: isCompressed ? name.slice(0, -'.gz'.length) : name, isCompressed };
}
