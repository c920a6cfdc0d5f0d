import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Frame } from '../../../bench/symbols/source-frames.mjs';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { announceSkipped, lastLines, makeTempDir, removeTempDir, runTool, whyMissing } from '../../support/perf/perf-tool.ts';
import { symbolizeHere } from '../../support/truth/symbolize-here.ts';

// Go's own table of a program against the symbols and the debug information of the same program.

const SOURCE = `package main
import ("encoding/json"; "fmt"; "os"; "sort"; "strings")
type pair[K comparable, V any] struct { key K; value V }
func (p *pair[K, V]) text() string { return fmt.Sprint(p.key, p.value) }
type shape interface{ area() float64 }
type square struct{ side float64 }
func (s square) area() float64 { return s.side * s.side }
func sum(shapes ...shape) (total float64) { for _, s := range shapes { total += s.area() }; return }
func main() {
  pairs := []*pair[string, int]{{"a", 1}, {"b", len(os.Args)}}
  sort.Slice(pairs, func(i, j int) bool { return strings.Compare(pairs[i].text(), pairs[j].text()) < 0 })
  text, _ := json.Marshal(map[string]any{"pairs": len(pairs), "sum": sum(square{2}, square{3})})
  defer func() { recover() }()
  fmt.Println(string(text))
}
`;
const C_SOURCE = SOURCE.replace('package main', 'package main\n// static int twice(int n) { return 2 * n; }\nimport "C"').replace(
  'square{3}',
  'square{float64(C.twice(3))}',
);

interface Build {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly needsC?: boolean;
}

const BUILDS: Readonly<Record<string, Build>> = {
  static: { env: { CGO_ENABLED: '0' } },
  'position-independent': { args: ['-buildmode=pie'] },
  'cgo, position-independent': { args: ['-buildmode=pie'], needsC: true },
  386: { env: { GOARCH: '386', CGO_ENABLED: '0' } },
  arm64: { env: { GOARCH: 'arm64', CGO_ENABLED: '0' } },
  s390x: { env: { GOARCH: 's390x', CGO_ENABLED: '0' } },
};
/** The distance between the addresses that are looked up, in bytes. */
const STEP = 24;

const missing = whyMissing('go', ['version']);
if (missing !== undefined) announceSkipped('the functions of stripped Go programs', missing);
const directory = makeTempDir();
afterAll(() => removeTempDir(directory));

function build(name: string, { env, args = [], needsC = false }: Build): string {
  const project = join(directory, name.replaceAll(/\W/g, '-'));
  mkdirSync(project);
  writeFileSync(join(project, 'go.mod'), 'module example\ngo 1.20\n');
  writeFileSync(join(project, 'main.go'), needsC ? C_SOURCE : SOURCE);
  const { status, stderr } = runTool('go', ['build', ...args, '-o', 'program', '.'], {
    cwd: project,
    env: { ...(process.env as Record<string, string>), ...env },
  });
  if (status !== 0) throw new Error(lastLines(stderr, 10));
  return join(project, 'program');
}

/** The file without its symbol table and debug information: their headers become empty ones, which works for all machines. */
async function strip(path: string): Promise<string> {
  const bytes = new Uint8Array(readFileSync(path));
  const elf = await ElfFile.open(new BufferSource(bytes, path));
  const view = new DataView(bytes.buffer);
  const is64 = elf.classBits === 64;
  const shoff = is64 ? Number(view.getBigUint64(40, elf.littleEndian)) : view.getUint32(32, elf.littleEndian);
  const shentsize = is64 ? 64 : 40;
  for (const [i, { name, type }] of elf.sections.entries()) {
    if (name.startsWith('.debug_') || name.startsWith('.zdebug_') || type === 2) bytes.fill(0, shoff + i * shentsize, shoff + (i + 1) * shentsize);
  }
  writeFileSync(`${path}.stripped`, bytes);
  return `${path}.stripped`;
}

/** Addresses in the functions of the program's symbol table. */
async function addressesIn(path: string): Promise<bigint[]> {
  const elf = await ElfFile.open(new BufferSource(new Uint8Array(readFileSync(path)), path));
  const { addr, sizeBytes } = elf.section('.text')!;
  return Array.from({ length: Math.floor(sizeBytes / STEP) }, (_, i) => BigInt(addr + i * STEP));
}

/** Unlike the table, symbols of assembly have the kind of their calls in their names. The table has no columns, either. */
function textOf(frames: readonly Frame[]): string {
  return frames.map(({ name, file, line }) => `${name.replace(/\.abi(?:0|internal)$/, '')} ${file}:${line}`).join(' < ');
}

describe.skipIf(missing !== undefined)('functions, lines and inlined functions of stripped Go programs', () => {
  for (const [name, how] of Object.entries(BUILDS)) {
    const why = how.needsC ? whyMissing('gcc') : undefined;
    if (why !== undefined) announceSkipped(`those of ${name}`, why);
    test.skipIf(why !== undefined)(`are those of the debug information: ${name}`, async () => {
      const program = build(name, how);
      const addresses = await addressesIn(program);
      const expected = await symbolizeHere(program, addresses);
      const found = await symbolizeHere(await strip(program), addresses);
      const known = Array.from(addresses.keys()).filter((i) => expected[i].some((frame) => frame.name !== '' && frame.line > 0));
      const differences = known.filter((i) => textOf(expected[i]) !== textOf(found[i]));
      const examples = differences.slice(0, 10).map((i) => `${addresses[i].toString(16)}: ${textOf(expected[i])}\n  here: ${textOf(found[i])}`);
      if (process.env.PERFCONV_SHOW_TRUTH !== undefined)
        process.stderr.write(`${name}: ${differences.length} of ${known.length} differ\n${examples.join('\n')}\n`);
      expect(known.length).toBeGreaterThan(10_000);
      expect(differences.length / known.length, examples.join('\n')).toBeLessThan(0.005);
    });
  }
});
