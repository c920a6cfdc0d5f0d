import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeText } from '../../../src/base/text/text.ts';
import { demangle } from '../../../src/demangle/demangle.ts';
import { AliasChoice } from '../../../src/symbol-table/best-alias.ts';
import { buildElf, TEXT } from '../../support/builders/elf/elf-builder.ts';
import { askPerf, hasPerf } from '../../support/perf/perf-oracle.ts';
import { announceSkipped, makeTempDir, removeTempDir } from '../../support/perf/perf-tool.ts';

if (!hasPerf) announceSkipped('names of Java and OCaml compared with perf', 'there is no perf');

const OCAML = ['', '__', '___', '$2b', '$2B$3d', '$', '$4', '$zz', '.', '_', 'iter', 'Map', 'a$20b', '1'];
const ofOcaml = OCAML.flatMap((first) => OCAML.map((second) => `camlX${first}a${second}_7`));
const otherNames = ['caml', 'caml_alloc', 'camlx__y', 'caml$41x', 'LFoo;', 'LFoo;a', 'LFoo;a(', 'LFoo;a(I', 'Interpreter', 'Lambda(I)V'];

const TYPES = ['I', 'Z', 'LBar;', 'La/b/C$D;', '[J', '[[S', '[LBar;', '[[La/B;'];
const ofJava = [
  ...['hashCode', '<init>', '<clinit>', 'lambda$x$0', 'x_y'].flatMap((method) => ['LFoo', 'La/b/Foo$Bar'].map((name) => `${name};${method}()V`)),
  ...TYPES.flatMap((first) => TYPES.map((second) => `LA;f(${first}${second}I)${second}`)),
  ...TYPES.flatMap((type) => [`LA;f(${type.repeat(9)})V`, `LA;f(${type})V`]),
];

describe.skipIf(!hasPerf)('names of Java and OCaml', () => {
  let directory = '';
  beforeAll(() => {
    directory = makeTempDir();
  });
  afterAll(() => removeTempDir(directory));

  it.each([
    ['Java', ofJava],
    ['OCaml', ofOcaml],
    ['neither', otherNames],
  ])('are shown as perf shows them: %s', (_, names) => {
    const path = join(directory, 'names');
    const symbols = names.map((name, i) => ({ name, value: TEXT.vaddr + 16 * i, sizeBytes: 16 }));
    writeFileSync(path, buildElf({ classBits: 64, littleEndian: true, symbols }));
    const start = 0x7f00_0000_0000n;
    const map = { path, start, sizeBytes: BigInt(TEXT.sizeBytes), pgoff: BigInt(TEXT.offset) };
    const shown = askPerf(
      [map],
      names.map((__, i) => start + BigInt(16 * i)),
      { args: ['--demangle'] },
    );
    const textOf = (name: string): string => Buffer.from(encodeText(demangle(name, 'no-params') ?? name)).toString();
    expect(names.map(textOf)).toEqual(shown.map(({ name }) => name));
  });

  it('are chosen among the names of one address as perf chooses them', () => {
    const path = join(directory, 'aliases');
    const aliases = [
      ['camlA__f$2b$2b', 'camlA__fold_1'],
      ['camlA__f_1', 'plain_name'],
      ['LFoo;bar(II)V', 'a_plain_name_of_22_char'],
      ['LFoo;bar()V', 'LFoo;bars()V'],
    ];
    const symbols = aliases.flatMap((names, i) => names.map((name) => ({ name, value: TEXT.vaddr + 16 * i, sizeBytes: 16 })));
    writeFileSync(path, buildElf({ classBits: 64, littleEndian: true, symbols }));
    const start = 0x7f00_0000_0000n;
    const map = { path, start, sizeBytes: BigInt(TEXT.sizeBytes), pgoff: BigInt(TEXT.offset) };
    const shown = askPerf(
      [map],
      aliases.map((_, i) => start + BigInt(16 * i)),
      { args: ['--demangle'] },
    );
    const choice = new AliasChoice();
    const chosen = aliases.map((names) => choice.best(names));
    expect(chosen.map((name) => demangle(name, 'no-params') ?? name)).toEqual(shown.map(({ name }) => name));
  });
});
