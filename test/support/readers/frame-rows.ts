import { readFileSync } from 'node:fs';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import type { Decompressor } from '../../../src/base/streams/decompressor.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import type { FrameSection } from '../../../src/elf/frame-tables/frame-section.ts';
import { type UnwindMachine, unwindMachineOf } from '../../../src/unwind/machines/unwind-machine.ts';
import { RegisterRule } from '../../../src/unwind/rules/cfa-row.ts';
import { CfaRows } from '../../../src/unwind/rules/cfa-rows.ts';
import { readUnwindTables } from '../../../src/unwind/rules/unwind-tables.ts';

/** The number of registers in tables: on Arm, the double ones of VFP have the highest numbers, 256 to 287. */
const REGISTER_COUNTS: Readonly<Partial<Record<UnwindMachine, number>>> = { arm: 288 };
const REGISTER_COUNT = 128;

/** The rows of an FDE: each has an address, the CFA, and the registers with a rule, as readelf writes them: `401000 rsp+16 rbp:c-16 ra:c-8`. */
export type FrameRows = readonly string[];

/** The FDEs of a section, by the offset of each. */
export type FramesBySection = Map<string, Map<number, FrameRows>>;

/** The rows of all FDEs of a file, by section (`.eh_frame`, `.debug_frame`), as this program reads them. */
export async function readFrameRows(path: string, decompressor?: Decompressor): Promise<FramesBySection> {
  const elf = await ElfFile.open(new BufferSource(readFileSync(path)));
  const machine = unwindMachineOf(elf);
  if (machine === undefined) throw new Error(`${path} is of another machine`);
  const { frames } = await readUnwindTables(elf, decompressor === undefined ? {} : { decompressor });
  return new Map(
    frames.map(({ section }) => [
      section.bytes.isDebugFrame ? '.debug_frame' : '.eh_frame',
      rowsOf(section, registerNames(machine), REGISTER_COUNTS[machine] ?? REGISTER_COUNT),
    ]),
  );
}

/** The same for a section; registers without a name are r0, r1 … */
export function rowsOf(section: FrameSection, names: readonly string[] = [], registerCount = REGISTER_COUNT): Map<number, FrameRows> {
  const byOffset = new Map<number, FrameRows>();
  const rows = new CfaRows(registerCount);
  for (let at = 0; at >= 0 && at < section.sizeBytes; at = section.nextEntry) {
    if (!section.readFde(at)) continue;
    const { nextEntry } = section;
    const returnAddress = section.cie?.returnAddressRegister;
    const texts: string[] = [];
    rows.begin(section);
    while (rows.next()) {
      const cfa = rows.cfaRegister < 0 ? 'exp' : `${names[rows.cfaRegister] ?? `r${rows.cfaRegister}`}${signed(rows.cfaOffset)}`;
      const cells = Array.from(rows.kinds, (kind, register) => {
        const text = cellOf(kind, rows.values[register], names);
        return text === '' ? '' : `${register === returnAddress ? 'ra' : (names[register] ?? `r${register}`)}:${text}`;
      });
      texts.push([rows.start.toString(16), cfa, ...cells.filter((cell) => cell !== '').sort()].join(' '));
    }
    if (rows.failed) texts.push('failed');
    section.nextEntry = nextEntry;
    byOffset.set(at, texts);
  }
  return byOffset;
}

/** Empty for a register that readelf shows as `u`, which means both undefined and not mentioned. */
function cellOf(kind: number, value: number, names: readonly string[]): string {
  switch (kind) {
    case RegisterRule.sameValue:
      return 's';
    case RegisterRule.offset:
      return `c${signed(value)}`;
    case RegisterRule.valOffset:
      return `v${signed(value)}`;
    case RegisterRule.register:
      return names[value] ?? `r${value}`;
    case RegisterRule.expression:
      return 'exp';
    case RegisterRule.valExpression:
      return 'vexp';
    default:
      return '';
  }
}

function signed(value: number): string {
  return value < 0 ? `${value}` : `+${value}`;
}

/** The same for the output of `readelf --debug-dump=frames-interp`. */
export function parseFrameRows(text: string): FramesBySection {
  const sections: FramesBySection = new Map();
  let section = new Map<number, FrameRows>();
  let columns: string[] = [];
  let rows: string[] | undefined;
  for (const line of text.split('\n')) {
    const start = /^Contents of the (\S+) section/.exec(line);
    if (start) {
      section = new Map();
      sections.set(start[1].replace(/^\.zdebug/, '.debug'), section);
      continue;
    }
    const entry = /^([0-9a-f]{8,}) [0-9a-f]{8,} [0-9a-f]{8,} (CIE|FDE)/.exec(line);
    if (entry) {
      rows = entry[2] === 'FDE' ? [] : undefined;
      if (rows) section.set(Number.parseInt(entry[1], 16), rows);
      columns = [];
    } else if (line.startsWith('   LOC ')) columns = line.trim().split(/\s+/).slice(2);
    else if (rows && /^[0-9a-f]{8,} \S/.test(line) && !line.includes('ZERO terminator')) {
      // Registers that hold the values of others: `r5 (rdi)`.
      const [location, cfa, ...cells] = line
        .trim()
        .replaceAll(/r\d+ \((\w+)\)/g, '$1')
        .split(/\s+/);
      const named = cells.map((cell, i) => `${columns[i]}:${cell}`).filter((cell) => !cell.endsWith(':u'));
      rows.push([BigInt(`0x${location}`).toString(16), cfa, ...named.sort()].join(' '));
    }
  }
  return sections;
}

/** Differences between the rows that this program and readelf read: a line each, at most `limit`. readelf shows no rows for an FDE without instructions. */
export function compareFrameRows(ours: FramesBySection, theirs: FramesBySection, limit = 10): { entries: number; rows: number; differences: string[] } {
  const differences: string[] = [];
  let [entries, rows] = [0, 0];
  for (const [name, byOffset] of theirs) {
    const own = ours.get(name);
    for (const [offset, expected] of byOffset) {
      entries++;
      rows += expected.length;
      const found = own?.get(offset);
      const isEqual = found !== undefined && (expected.length === 0 ? found.length === 1 : found.join('\n') === expected.join('\n'));
      if (!isEqual && differences.length < limit) differences.push(`${name} ${offset.toString(16)}: ${found?.join(' | ')} instead of ${expected.join(' | ')}`);
    }
    for (const offset of own?.keys() ?? []) if (!byOffset.has(offset) && differences.length < limit) differences.push(`${name} ${offset.toString(16)} is none`);
  }
  return { entries, rows, differences };
}

function numbered(prefix: string, count: number, first = 0): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${first + i}`);
}

/** The order in which s390x numbers its floating-point registers, and the vector registers that have no such half. */
const HALVES_OF_S390X = [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15];

/** readelf's names of registers, by DWARF number. */
function registerNames(machine: UnwindMachine): readonly string[] {
  switch (machine) {
    case 'x86_64':
      return ['rax', 'rdx', 'rcx', 'rbx', 'rsi', 'rdi', 'rbp', 'rsp', ...numbered('r', 8, 8), 'rip', ...numbered('xmm', 16)];
    case 'i386':
      return ['eax', 'ecx', 'edx', 'ebx', 'esp', 'ebp', 'esi', 'edi', 'eip'];
    case 'aarch64':
      return [...numbered('x', 31), 'sp', ...numbered('r', 14, 32), 'vg', 'ffr', ...numbered('p', 16), ...numbered('v', 32), ...numbered('z', 32)];
    case 'arm':
      return numbered('r', 16);
    case 'riscv64':
      return [
        ...['zero', 'ra', 'sp', 'gp', 'tp', 't0', 't1', 't2', 's0', 's1', ...numbered('a', 8), ...numbered('s', 10, 2), 't3', 't4', 't5', 't6'],
        ...[...numbered('ft', 8), 'fs0', 'fs1', ...numbered('fa', 8), ...numbered('fs', 10, 2), ...numbered('ft', 4, 8)],
      ];
    case 'loongarch64':
    case 'mips64':
    case 'mips':
    case 'ppc64':
    case 'ppc':
      return numbered('r', 32);
    case 's390x':
      return [...numbered('r', 16), ...HALVES_OF_S390X.map((n) => `f${n}`), ...numbered('r', 36, 32), ...HALVES_OF_S390X.map((n) => `v${n + 16}`)];
  }
}
