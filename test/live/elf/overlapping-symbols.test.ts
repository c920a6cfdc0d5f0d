import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { readElfSymbols } from '../../../src/elf/symbols/elf-symbols.ts';
import { askPerf, hasPerf, runs } from '../../support/perf/perf-oracle.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';

const isMissing = !hasPerf || !runs('gcc', ['--version']);
if (isMissing) announceSkipped('overlapping symbols against perf', 'perf or gcc is missing');

const FUNCTION_BYTES = 64;

/** Functions with labels in them, some of which begin where others do, are local, weak, or reach over the next ones. Their order in the file is not that of their addresses. */
function assemblyOf(count: number): string {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return (seed >>> 8) % below;
  };
  const declared: string[] = [];
  for (let i = 0; i < count; i++) {
    const at = i * FUNCTION_BYTES;
    const functionName = `function${i}`;
    const bytes = FUNCTION_BYTES * (1 + (random(8) === 0 ? random(40) : 0));
    const visibility = ['.globl', '.weak', '.local'][random(3)];
    declared.push(`${visibility} ${functionName}\n.type ${functionName}, @function\n.set ${functionName}, code + ${at}\n.size ${functionName}, ${bytes}`);
    for (let label = 0; label < random(4); label++) {
      const name = `${'_'.repeat(random(3))}label${i}_${label}`;
      declared.push(`${random(2) === 0 ? '.globl' : '.local'} ${name}\n.set ${name}, code + ${at + random(FUNCTION_BYTES)}`);
    }
  }
  for (let i = declared.length - 1; i > 0; i--) {
    const other = random(i + 1);
    [declared[i], declared[other]] = [declared[other], declared[i]];
  }
  return `.text\ncode:\n.fill ${count * FUNCTION_BYTES}, 1, 0x90\n${declared.join('\n')}\n`;
}

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'overlapping-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

/** Moves a symbol of a 64-bit little-endian file's table to a section that the file does not have. */
function loseSection(bytes: Buffer, elf: ElfFile, tableName: string, index: number): void {
  const { offset } = elf.section(tableName)!;
  bytes.writeUInt16LE(200, offset + 24 * index + 6);
}

describe.skipIf(isMissing)('symbols that overlap, as perf finds them', () => {
  const build = (count: number): string => {
    const source = join(dir, `${count}.s`);
    const path = join(dir, `${count}.so`);
    writeFileSync(source, assemblyOf(count));
    writeFileSync(join(dir, 'calls.c'), 'int puts(const char *), rand(void); int calls(void) { return puts("x") + rand(); }');
    execFileSync('gcc', ['-shared', '-fPIC', '-o', path, join(dir, 'calls.c'), source], { stdio: 'ignore' });
    return path;
  };
  /** What perf and perfconv call every second byte of a library's code. */
  const namesIn = async (path: string): Promise<{ readonly theirs: (string | undefined)[]; readonly ours: (string | undefined)[] }> => {
    const bytes = readFileSync(path);
    const elf = await ElfFile.open(new BufferSource(bytes));
    const table = await readElfSymbols(elf, elf, { compatPerf: true, linkageAliases: true });
    const code = elf.segments.find(({ flags }) => (flags & 1) !== 0)!;
    const offsets = Array.from({ length: Math.floor(code.filesz / 2) }, (_, i) => code.offset + 2 * i);
    const base = 0x1_0000_0000n;
    const names = askPerf(
      [{ path, start: base, sizeBytes: BigInt(bytes.length + 4095) & ~4095n, pgoff: 0n }],
      offsets.map((offset) => base + BigInt(offset)),
    );
    const ours = offsets.map((offset) => {
      const index = table?.find(offset) ?? -1;
      return index < 0 ? undefined : table!.name(index);
    });
    return { theirs: names.map(({ name }) => name), ours };
  };

  for (const count of [1, 3, 20, 700]) {
    it(`in a library of ${count} functions`, async () => {
      const { theirs, ours } = await namesIn(build(count));
      expect(ours).toEqual(theirs);
    });
  }

  it.each(['.symtab', '.dynsym'])('in a library of which %s has a symbol in a section that does not exist', async (tableName) => {
    const path = build(300);
    const bytes = readFileSync(path);
    const elf = await ElfFile.open(new BufferSource(bytes));
    const count = elf.section(tableName)!.sizeBytes / 24;
    for (let index = Math.floor(count / 2); index < count; index++) loseSection(bytes, elf, tableName, index);
    writeFileSync(path, bytes);
    const { theirs, ours } = await namesIn(path);
    expect(theirs.filter((name) => name !== undefined).length).toBeGreaterThan(100);
    // perf has no name for the first address that it looks up in such a file.
    expect(ours.slice(1)).toEqual(theirs.slice(1));
  });
});
