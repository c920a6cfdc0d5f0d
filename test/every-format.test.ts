import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { defaultOutputName, FORMATS, type Format, outputFormatOf } from '../src/pipeline/formats.ts';
import { requireMergeable } from '../src/pipeline/merge-recordings.ts';
import { runMain } from './support/programs/run-main.ts';
import { GOLDEN_PRODUCTS } from './support/truth/golden-products.ts';

// What each format needs besides its writer, as far as the compiler does not ask for it: see "Adding a format" in CONTRIBUTING.md.

const pathOf = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const textOf = (path: string): string => readFileSync(pathOf(path), 'utf8');

/** The default ending of a file in the format: `.folded`. */
const endingOf = (format: Format): string => defaultOutputName('web', format).slice('web'.length);

/** The cells of a format's row in a table of formats: `| [`folded`](#folded-stacks) | `.folded` | flamegraph.pl |`. */
function rowOf(format: Format, page: string): string[] {
  const row = textOf(page)
    .split('\n')
    .find((line) => new RegExp(`^\\| \\[?\`${format}\``).test(line));
  return (row ?? '').split('|').slice(1, -1);
}

/** Headings as links name them: `## Folded stacks` → `folded-stacks`. */
const anchorsOf = (page: string): string[] => (textOf(page).match(/^#+ .*$/gm) ?? []).map((line) => line.replace(/^#+ /, '').toLowerCase().replace(/ /g, '-'));

function isMergeable(format: Format): boolean {
  try {
    requireMergeable([format]);
    return true;
  } catch {
    return false;
  }
}

let help: string;
beforeAll(async () => {
  // Lines break at blanks.
  help = (await runMain(['convert', '--help'])).stdout.toString().replace(/\s+/g, ' ');
});

describe.each(FORMATS)('the format %s', (format) => {
  test('is chosen by the default name of its files', () => {
    expect(outputFormatOf(defaultOutputName('web.data', format))?.format).toBe(format);
  });

  test.each(['README.md', 'docs/formats.md'])('has a row in the table of %s, with the ending of its files', (page) => {
    const [, names = '', viewers = ''] = rowOf(format, page);
    expect(names).toContain(`\`${endingOf(format)}\``);
    expect(viewers.trim()).not.toBe('');
  });

  test('has its own section in docs/formats.md, to which its row leads', () => {
    const [, anchor] = /\]\(#([^)]+)\)/.exec(rowOf(format, 'docs/formats.md')[0] ?? '') ?? [];
    expect(anchorsOf('docs/formats.md')).toContain(anchor);
  });

  test('is in the help of convert with its ending, which the message about unclear names has, too', async () => {
    const [, text = ''] = /-t, --format FORMAT (.*?) -o, --output /.exec(help) ?? [];
    expect(text, 'src/cli/command-line/options.ts').toMatch(new RegExp(`\\b${format}\\b`));
    expect(text, 'src/cli/command-line/options.ts').toContain(endingOf(format));
    const { stderr } = await runMain(['-o', 'web.profile', pathOf('fixtures/plain.data')]);
    expect(stderr).toContain('the name does not say which format');
    expect(stderr).toContain(endingOf(format));
  });

  test('is listed for merging if it can hold several recordings', () => {
    const [, inHelp = ''] = /merge them into one profile \(([^)]*)\)/.exec(help) ?? [];
    expect(inHelp.split(', ').includes(format)).toBe(isMergeable(format));
    // Lines break at blanks.
    const page = textOf('docs/command-line.md').replace(/, ?\n/g, ', ');
    const [, onPage = ''] = /they become one profile \(([^;)]*)/.exec(page) ?? [];
    expect(onPage.toLowerCase().split(', ').includes(format)).toBe(isMergeable(format));
    expect(new RegExp(`^- .*\`${format}\`.* cannot be merged`, 'm').test(page)).toBe(!isMergeable(format));
  });

  test('has a golden product that is named after it, with a file', () => {
    const products = Object.keys(GOLDEN_PRODUCTS).filter((name) => name.includes(format));
    expect(products).not.toEqual([]);
    const files = readdirSync(pathOf('test/golden'), { recursive: true, encoding: 'utf8' });
    expect(products.filter((name) => !files.some((file) => file.endsWith(name)))).toEqual([]);
  });

  test.each(['package.json', 'CHANGELOG.md'])('is named in %s', (path) => {
    // As words, such as CPU profiles for `cpuprofile`.
    expect(
      textOf(path)
        .toLowerCase()
        .replace(/[\s-]+/g, ''),
    ).toContain(format);
  });

  const LISTS = [
    ...['test/support/truth/invariants.ts', 'test/untimed-samples.test.ts', 'test/raw-names.test.ts', 'test/writers/empty-names.test.ts'],
    ...['fuzz/target/output-checks.ts', 'fuzz/target/totals-check.ts'],
  ];
  test.each(LISTS)('is covered in %s', (path) => {
    expect(textOf(path)).toMatch(new RegExp(`\\b${format}`, 'i'));
  });

  test('has a check of outputs in the fuzzer, a row in the test of names, and tests of its writer', () => {
    expect(textOf('fuzz/target/output-checks.ts')).toMatch(new RegExp(`^  ${format}[,:]`, 'm'));
    expect(textOf('test/pipeline/formats.test.ts')).toContain(`'${format}', `);
    expect(readdirSync(pathOf('test/writers'))).toContain(format);
  });
});
