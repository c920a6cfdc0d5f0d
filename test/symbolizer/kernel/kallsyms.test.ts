import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lastSymbolSize } from '../../../src/symbol-table/symbol-placement.ts';
import { RANK_GLOBAL, RANK_LOCAL, RANK_WEAK } from '../../../src/symbol-table/symbol-rank.ts';
import type { SymbolTable } from '../../../src/symbol-table/symbol-table.ts';
import { SymbolTableBuilder } from '../../../src/symbol-table/symbol-table-builder.ts';
import { Kallsyms } from '../../../src/symbolizer/kernel/kallsyms.ts';
import { runs } from '../../support/thoroughness.ts';

const parse = (text: string): Kallsyms => Kallsyms.parse(new TextEncoder().encode(text));

const LIST = `ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000100 t do_one
ffffffff81000180 r rodata_is_skipped
ffffffff81000200 W weak_one
ffffffff81000200 t strong_one
ffffffff82000000 D jiffies
ffffffff82000100 b bss_one
ffffffff82000200 A absolute_is_skipped
ffffffff82000300 t $x.mapping
ffffffffc0000000 t nft_init\t[nf_tables]
ffffffffc0000100 t nft_exit\t[nf_tables]
ffffffffc0004000 t bpf_prog_6deef7357e7b4530_sd_fw\t[bpf]
`;
const address = (hex: string): number => Number(BigInt.asIntN(64, BigInt(`0x${hex}`)));

describe('Kallsyms', () => {
  const nameAt = (hex: string, list = parse(LIST), shift = 0): string | undefined => {
    const table = list.kernel(shift);
    const index = table?.find(address(hex)) ?? -1;
    return index < 0 ? undefined : table!.name(index);
  };

  it('keeps text, weak, data and BSS symbols, each extending to the next', () => {
    expect(nameAt('ffffffff81000000')).toBe('_text');
    expect(nameAt('ffffffff810000ff')).toBe('_text');
    expect(nameAt('ffffffff810001ff')).toBe('do_one');
    expect(nameAt('ffffffff82000000')).toBe('jiffies');
    expect(nameAt('ffffffff82000fff')).toBe('bss_one');
  });

  it('leaves out local labels of the assembler, of which modules of RISC-V are full', () => {
    const list = 'ffffffff02000000 t virtio_one\t[virtio]\nffffffff02000010 t .L0 \t[virtio]\nffffffff02000020 t .LVL676\t[virtio]\n';
    const module = parse(`${list}ffffffff02000030 t .text_is_none\t[virtio]\n`).module('virtio')!;
    expect(module.size).toBe(2);
    expect(module.name(module.find(address('ffffffff0200002f')))).toBe('virtio_one');
    expect(module.name(module.find(address('ffffffff02000030')))).toBe('.text_is_none');
  });

  it('prefers strong names to weak ones', () => expect(nameAt('ffffffff81000200')).toBe('strong_one'));

  it('keeps the names of the kernel and of modules apart', () => {
    const list = parse(LIST);
    expect(nameAt('ffffffffc0000000', list)).toBeUndefined();
    const module = list.module('nf-tables')!;
    expect(module.size).toBe(2);
    expect(module.name(module.find(address('ffffffffc0000180')))).toBe('nft_exit');
    expect(module.find(address('ffffffff81000100'))).toBe(-1);
    expect(list.module('bpf')!.name(0)).toBe('bpf_prog_6deef7357e7b4530_sd_fw');
    expect(list.module('xfs')).toBeUndefined();
    expect(list.modules).toEqual(['nf_tables', 'bpf']);
  });

  it('finds the address of any symbol by its complete name', () => {
    const list = parse(LIST);
    expect(list.addressOf('_text')).toBe(address('ffffffff81000000'));
    expect(list.addressOf('absolute_is_skipped')).toBe(address('ffffffff82000200'));
    expect(list.addressOf('nft_exit')).toBe(address('ffffffffc0000100'));
    expect(list.addressOf('do_')).toBeUndefined();
    expect(list.addressOf('one')).toBeUndefined();
  });

  it('never takes an address from another line than the name', () => {
    expect(parse('ffffffff81000000\nffffffff81000100 T _text\n').addressOf('_text')).toBe(address('ffffffff81000100'));
    expect(parse('ffffffff81000000\n').addressOf('_text')).toBeUndefined();
  });

  it('looks only a few times at each byte of a list without symbols', () => {
    const bytes = new Uint8Array(1 << 17).fill(0x0a);
    let looked = 0;
    bytes.indexOf = (byte, from = 0) => {
      const found = Uint8Array.prototype.indexOf.call(bytes, byte, from);
      looked += (found < 0 ? bytes.length : found + 1) - from;
      return found;
    };
    expect(Kallsyms.parse(bytes).addressOf('_text')).toBeUndefined();
    expect(looked).toBeLessThan(4 * bytes.length);
  });

  it('moves the kernel by a shift', () =>
    expect(nameAt('ffffffff9a000100', parse(LIST), address('ffffffff9a000000') - address('ffffffff81000000'))).toBe('do_one'));

  it('notices addresses that are all zero', () => {
    expect(parse('0000000000000000 T _text\n0000000000000000 t do_one\n').isHidden).toBe(true);
    expect(parse('0000000000000000 A zero\nffffffff81000000 T _text\n').isHidden).toBe(false);
    expect(parse('').isHidden).toBe(false);
  });

  it('counts functions without an address, but leaves them out', () => {
    const list = parse(`0000000000000000 D per_cpu_first\n0000000000000000 t hidden_one\n${LIST}0000000000000000 t hidden_two\t[nf_tables]\n`);
    expect(list.hiddenCount).toBe(2);
    expect(list.isHidden).toBe(false);
    expect(nameAt('0000000000000000', list)).toBeUndefined();
    expect(list.module('nf_tables')!.size).toBe(2);
  });

  it('extends each symbol to the next of any module, and the last of the kernel one page beyond its own', () => {
    // Observed: perf 6.1.
    const list = parse(`0000000000020000 D per_cpu_last
ffffffff81000000 T _text
ffffffff82100000 B _end
ffffffffc0000000 t mod_a\t[moda]
ffffffffc0000100 t mod_b\t[moda]
ffffffffc0010000 t modb_a\t[modb]
ffffffffc0020000 t bpf_prog_1_x\t[bpf]
ffffffffc0060000 t plain_after
`);
    expect(nameAt('ffffffff82100fff', list)).toBe('_end');
    expect(nameAt('ffffffff82101000', list)).toBeUndefined();
    expect(nameAt('ffffffffc0060fff', list)).toBe('plain_after');
    expect(nameAt('ffffffffc0061000', list)).toBeUndefined();
    expect(nameAt('ffffffffffffffff', list)).toBeUndefined();
    const moduleNameAt = (module: string, hex: string): string | undefined => {
      const table = list.module(module)!;
      const index = table.find(address(hex));
      return index < 0 ? undefined : table.name(index);
    };
    expect(moduleNameAt('moda', 'ffffffffc0000fff')).toBe('mod_b');
    expect(moduleNameAt('moda', 'ffffffffc000ffff')).toBe('mod_b');
    expect(moduleNameAt('modb', 'ffffffffc0011000')).toBe('modb_a');
    expect(moduleNameAt('modb', 'ffffffffc0020000')).toBeUndefined();
  });

  it('moves a module by a shift', () => {
    const table = parse(LIST).module('nf_tables', 0x1000)!;
    expect(table.name(table.find(address('ffffffffc0001100')))).toBe('nft_exit');
  });

  it('reads 32-bit lists', () => {
    const table = parse('c0008000 T stext\nc0008100 t __enable_mmu\n').kernel(0)!;
    expect(table.start(table.find(0xc0008104))).toBe(0xc0008100);
  });

  it('reads a list without a final newline, and skips lines of other forms', () => {
    const list = parse('\nnonsense\nffffffff81000000\nffffffff81000000 T\nffffffff81000000  T a\nzz T b\nffffffff81000010 T good\nffffffff81000020 T last');
    const table = list.kernel(0)!;
    expect(Array.from({ length: table.size }, (_, i) => table.name(i))).toEqual(['good', 'last']);
  });

  it('reads a list that is cut off anywhere', () => {
    const bytes = new TextEncoder().encode(LIST);
    for (let length = 0; length <= bytes.length; length++) {
      const list = Kallsyms.parse(bytes.subarray(0, length));
      const table = list.kernel(0);
      for (let i = 0; i < (table?.size ?? 0); i++) expect(table!.name(i)).not.toBe('');
      list.addressOf('nft_exit');
    }
  });

  describe('makes the same tables as the plain rules', () => {
    interface Row {
      readonly at: number;
      readonly type: string;
      readonly module: string;
    }

    /** The rules in their simplest form: all symbols get their sizes in the order of addresses, then the best of each address is chosen. */
    const naiveTable = (list: readonly Row[], module: string, shift: number): SymbolTable | undefined => {
      const ordered = list.map((row, i) => ({ ...row, name: nameOf(i) })).sort((a, b) => a.at - b.at);
      const builder = new SymbolTableBuilder();
      const sized = ordered.map((row, i) => {
        const next = ordered[i + 1];
        if (next === undefined) return { ...row, size: 0 };
        const isEnd = (row.at < 0 && next.at >= 0) || (row.module === '' && next.module !== '');
        return { ...row, size: isEnd ? lastSymbolSize(row.at) : next.at - row.at };
      });
      const own = sized.filter((row) => row.module === module).sort((a, b) => a.name.localeCompare(b.name));
      for (const { at, size, type, name } of own) {
        builder.add(at, size, Number(name.slice(1)) * name.length, name.length, type === 'W' ? RANK_WEAK : type === 't' ? RANK_LOCAL : RANK_GLOBAL);
      }
      return own.length === 0 ? undefined : builder.build(new TextEncoder().encode(list.map((_, i) => nameOf(i)).join('')), shift);
    };
    const nameOf = (i: number): string => `f${String(i).padStart(3, '0')}`;
    const contents = (table: SymbolTable | undefined) =>
      table && Array.from({ length: table.size }, (_, i) => ({ name: table.name(i), start: table.start(i), end: table.end(i) }));
    const hex = (at: number): string => BigInt.asUintN(64, BigInt(at)).toString(16).padStart(16, '0');

    const check = (list: readonly Row[], shift: number): void => {
      const parsed = parse(list.map(({ at, type, module }, i) => `${hex(at)} ${type} ${nameOf(i)}${module === '' ? '' : `\t[${module}]`}\n`).join(''));
      for (const module of ['', 'mod_a', 'mod_b']) {
        const table = module === '' ? parsed.kernel(shift) : parsed.module(module, shift);
        const naive = naiveTable(list, module, shift);
        expect(contents(table)).toEqual(contents(naive));
        for (const { at } of list) for (const address of [at - 1, at, at + 5000]) expect(table?.find(address + shift)).toBe(naive?.find(address + shift));
      }
    };

    const upper = fc.integer({ min: -0x7f00_0000, max: -0x7eff_ff00 });
    const lower = fc.integer({ min: 1, max: 0x100 });
    const modules = fc.constantFrom(-0x4000_0000, -0x7f10_0000, -0x7f00_0080, 0x20).chain((base) => fc.integer({ min: base, max: base + 0x40 }));
    const rows = (at: fc.Arbitrary<number>, module: fc.Arbitrary<string>) =>
      fc.array(fc.record({ at, type: fc.constantFrom('t', 'T', 'W'), module }), { maxLength: 12 });
    const byAddress = (list: Row[]): Row[] => list.sort((a, b) => a.at - b.at);
    const image = fc.constant('');
    const other = fc.constantFrom('mod_a', 'mod_b');
    const shift = fc.constantFrom(0, 0x1000);

    it('from lists like those of kernels', () => {
      fc.assert(
        fc.property(rows(lower, image), rows(upper, image), rows(modules, other), shift, (low, high, others, by) =>
          check([...byAddress(low), ...byAddress(high), ...others], by),
        ),
        { numRuns: runs(1000, 80) },
      );
    });

    it('from lists that reach to the end of the address space', () => {
      const last = fc.integer({ min: -8200, max: -1 });
      const first = fc.integer({ min: 1, max: 8200 });
      fc.assert(
        fc.property(rows(first, image), rows(last, image), rows(first, other), shift, (low, high, others, by) =>
          check([...byAddress(low), ...byAddress(high), ...others], by),
        ),
        { numRuns: runs(1000, 80) },
      );
    });

    it('from lists in any order', () => {
      fc.assert(
        fc.property(rows(fc.oneof(lower, upper, modules), fc.oneof(image, other)), shift, (list, by) => check(list, by)),
        { numRuns: runs(1000, 80) },
      );
    });
  });
});
