/** The formats that a recording can be converted to, by the names that `-t` accepts. */
export const FORMATS = ['pprof', 'speedscope', 'chrome', 'cpuprofile', 'csv', 'script', 'folded', 'firefox'] as const;

export type Format = (typeof FORMATS)[number];

/** A format that is one stream of bytes; CSV is a directory of tables. */
export type StreamFormat = Exclude<Format, 'csv'>;

/** Formats that a later version will write, by the names and the endings that they will have. */
export const FORMATS_TO_COME: readonly { readonly name: string; readonly suffix: string }[] = [{ name: 'html', suffix: '.html' }];

/** A format, and whether its bytes are compressed. */
export interface OutputFormat {
  readonly format: Format;
  readonly gzip: boolean;
}

/** What an output's name ends in, in lower case and without a further `.gz`. pprof profiles are compressed wherever they lie. */
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
];

/** What a file of the format is called when nobody says. */
const DEFAULT_SUFFIX: Readonly<Record<Format, string>> = {
  pprof: '.pb.gz',
  speedscope: '.speedscope.json',
  chrome: '.trace.json',
  cpuprofile: '.cpuprofile',
  csv: '.csv',
  script: '.txt',
  folded: '.folded',
  firefox: '.firefox.json',
};

/** What names of files end in by default, in the order of {@link FORMATS}. */
export const DEFAULT_SUFFIXES: readonly string[] = FORMATS.map((format) => DEFAULT_SUFFIX[format]);

/** The format that an output's name asks for; undefined when it does not say. A name that ends in a slash is a directory: CSV. */
export function outputFormatOf(path: string): OutputFormat | undefined {
  if (/[/\\]$/.test(path)) return { format: 'csv', gzip: false };
  const { name, isCompressed } = withoutGz(path);
  const found = SUFFIXES.find(([suffix]) => name.endsWith(suffix));
  if (found === undefined) return undefined;
  const [, format, gzip] = found;
  return { format, gzip: gzip || isCompressed };
}

/** Whether an output of a format that was chosen otherwise is compressed: as its name says; pprof also where it says nothing. */
export function isGzipped(format: Format, path: string): boolean {
  const { name, isCompressed } = withoutGz(path);
  return isCompressed || (format === 'pprof' && !name.endsWith('.pb'));
}

/** An input's name as that of its output: `perf.data`, `perf.data.gz` and `perf.data/` → `perf.pb.gz`, `web.perf` → `web.perf.pb.gz`. */
export function defaultOutputName(inputName: string, format: Format): string {
  const name = inputName.replace(/(?<=[^/\\])[/\\]+$/, '');
  return name.replace(/(?<=[^/\\])\.data(\.(gz|zst|xz))?$/, '') + DEFAULT_SUFFIX[format];
}

function withoutGz(path: string): { name: string; isCompressed: boolean } {
  const name = path.toLowerCase();
  const isCompressed = name.endsWith('.gz');
  return { name: isCompressed ? name.slice(0, -'.gz'.length) : name, isCompressed };
}
