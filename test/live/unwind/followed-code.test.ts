import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { CodeReader, InstructionDecoder } from '../../../src/unwind/scan/code/instruction-decoder.ts';
import { ScanState } from '../../../src/unwind/scan/code/scan-state.ts';
import { A64Decoder } from '../../../src/unwind/scan/decoders/a64-decoder.ts';
import { LoongarchDecoder } from '../../../src/unwind/scan/decoders/loongarch-decoder.ts';
import { MipsDecoder } from '../../../src/unwind/scan/decoders/mips-decoder.ts';
import { PowerpcDecoder } from '../../../src/unwind/scan/decoders/powerpc-decoder.ts';
import { S390xDecoder } from '../../../src/unwind/scan/decoders/s390x-decoder.ts';
import { X86Decoder } from '../../../src/unwind/scan/decoders/x86/x86-decoder.ts';
import { I386_MODE, X86_64_MODE } from '../../../src/unwind/scan/decoders/x86/x86-mode.ts';
import { announceSkipped, runTool, whyMissing } from '../../support/perf/perf-tool.ts';

interface Line {
  readonly svma: number;
  readonly bytes: Uint8Array;
  readonly text: string;
}

/** How objdump writes an instruction set. */
interface Language {
  readonly objdump: string;
  /** Libraries with compiled code, and with much code written by hand for each kind of processor; none has data among its code. */
  readonly libraries: readonly string[];
  readonly sp: number;
  /** Whether jumps are followed together with the instruction after them, which takes effect first. */
  readonly hasDelaySlots?: boolean;
  /** Whether a line of objdump's listing is not a single instruction. */
  isOther(line: Line): boolean;
  /** How code goes on, with the target if the text names one. */
  flowOf(text: string): string;
  /** The register that an instruction writes; undefined if the text does not say, or if it is the stack pointer. */
  writtenBy(text: string): number | undefined;
  /** By how much an instruction moves the stack pointer; undefined if the text does not say. */
  movedOf(text: string): number | undefined;
}

const PREFIXES = /^(?:(?:lock|rep[nz]*|repe|repne|bnd|notrack|data16|addr32|addr16|data32|[cdefgs]s|rex(?:\.[WRXB]+)?) )+/;

/** Names of registers by DWARF number, some also of the lower half. */
const X86_64_REGISTERS = [
  ...['ax', 'dx', 'cx', 'bx', 'si', 'di', 'bp', 'sp'].map((name) => `r${name} e${name}`),
  ...Array.from({ length: 8 }, (_, i) => `r${i + 8} r${i + 8}d`),
].map((names) => names.split(' '));
const I386_REGISTERS = ['eax', 'ecx', 'edx', 'ebx', 'esp', 'ebp', 'esi', 'edi'].map((name) => [name]);

const x86 = (objdump: string, libraries: readonly string[], registers: readonly string[][], sp: number, wordBytes: number): Language => ({
  objdump,
  libraries,
  sp,

  isOther({ bytes, text }) {
    // It lists WAIT together with what it waits for, and prefixes without an instruction. A call of the next instruction is followed as what it does.
    if ((bytes[0] === 0x9b && bytes.length > 1) || (bytes[0] === 0xe8 && bytes.subarray(1).every((byte) => byte === 0))) return true;
    return text.includes('(bad)') || text.startsWith('.byte') || `${text.trim()} `.replace(PREFIXES, '') === '';
  },

  flowOf(text) {
    const [mnemonic, operand = ''] = text.replace(PREFIXES, '').split(/\s+/);
    if (/^ret[qlw]?$/.test(mnemonic)) return 'leave';
    if (/^call[qlw]?$/.test(mnemonic)) return 'call';
    // Through a word that the code or, in 32-bit code, the global offset table tells.
    const isStub = operand.includes('(%rip)') || (wordBytes === 4 && /^\*(?:%[a-z]s:)?(?:0x[0-9a-f]+|-?(?:0x[0-9a-f]+)?\(%ebx\))$/.test(operand));
    if (/^jmp[qlw]?$/.test(mnemonic)) return operand.startsWith('*') ? (isStub ? 'leave' : 'end') : `jump ${operand}`;
    if (/^(?:j|loop)/.test(mnemonic)) return `branch ${operand}`;
    return /^(?:ud[012][ab]?|hlt|int3|int1|icebp|lret[qlw]?|iret[qw]?|enter|enterq|ljmp[lw]?|lcall[lw]?|sysret[lq]?)$/.test(mnemonic) ? 'end' : 'next';
  },

  movedOf(text) {
    const plain = text.replace(/\s*#.*$/, '').replace(PREFIXES, '');
    const [, operation, sign, number] = /^(add|sub)[lq]?\s+\$(-?)0x([0-9a-f]+),%[er]sp$/.exec(plain) ?? [];
    if (operation !== undefined) {
      const value = BigInt.asIntN(8 * wordBytes, BigInt(`0x${number}`)) * (sign === '-' ? -1n : 1n);
      return Number(operation === 'add' ? value : -value);
    }
    const lea = /^lea\s+(-?)0x([0-9a-f]+)\(%[er]sp\),%[er]sp$/.exec(plain);
    if (lea !== null) return Number.parseInt(lea[2], 16) * (lea[1] === '-' ? -1 : 1);
    if (/^(?:push|pop)(?:w|a|fw)|^(?:push|pop).*%(?:[abcd]x|[sd]i|[sb]p|[cdefgs]s)$/.test(plain)) return undefined;
    if (/^push[flq]*\s|^pushf/.test(plain)) return -wordBytes;
    if (/^pop[flq]*\s|^popf/.test(plain)) return plain.includes(`%${registers[sp][0]}`) ? undefined : wordBytes;
    if (/^(?:call|ret|leave|enter|jmp|sys|int|iret|lret)/.test(plain) || /,%(?:rsp|esp|sp|spl)$/.test(plain)) return undefined;
    if (/^(?:xchg|bswap|inc|dec|not|neg|shl|shr|sar|rol|ror|rcl|rcr|set)/.test(plain) && /%(?:rsp|esp|sp|spl)\b/.test(plain)) return undefined;
    return 0;
  },

  writtenBy(text) {
    const plain = text.replace(/\s*#.*$/, '').replace(PREFIXES, '');
    if (/^(?:cmp|test|bt[lq]?\b|nop|push|call|jmp|j|xbegin|ud|prefetch|in|out|ver|l[lt]r|invlpg|mul|imul[lq]?\s+%\w+$|div|idiv|wr|vmptr|clflush)/.test(plain))
      return undefined;
    const [, name] = /[\s,]%(\w+)$/.exec(plain) ?? [];
    const register = registers.findIndex((names) => names.includes(name ?? ''));
    return register < 0 ||
      register === sp ||
      /^mov\w*\s+%(\w+),%\1$|^lea\w*\s+(?:0x0)?\(%(\w+)[^)]*\),%\2$|^(?:add|sub)\w*\s+\$0x0,|^xchg\s+%ax,%ax/.test(plain)
      ? undefined
      : register;
  },
});

const X86_64 = x86(
  'objdump',
  ['libc.so.6', 'libm.so.6', 'libgmp.so.10', 'libz.so.1', 'libstdc++.so.6', 'libx264.so.164'].map((name) => `/usr/lib/x86_64-linux-gnu/${name}`),
  X86_64_REGISTERS,
  7,
  8,
);
const I386 = x86(
  'i686-linux-gnu-objdump',
  ['libc.so.6', 'libm.so.6', 'libstdc++.so.6', 'libgomp.so.1'].map((name) => `/usr/i686-linux-gnu/lib/${name}`),
  I386_REGISTERS,
  4,
  4,
);

const A64: Language = {
  objdump: 'aarch64-linux-gnu-objdump',
  libraries: ['libc.so.6', 'libm.so.6', 'libgcc_s.so.1'].map((name) => `/usr/aarch64-linux-gnu/lib/${name}`),
  sp: 31,

  isOther({ text }) {
    return text.startsWith('.inst') || text.startsWith('.word') || text.includes('undefined');
  },

  flowOf(text) {
    const [mnemonic, ...operands] = text.replace(/\s*\/\/.*$/, '').split(/[\s,]+/);
    const target = operands.find((operand) => /^[0-9a-f]+$/.test(operand));
    if (/^(?:ret|retaa|retab|br|braaz?|brabz?)$/.test(mnemonic)) return 'leave';
    if (/^(?:bl|blr|blraaz?|blrabz?)$/.test(mnemonic)) return 'call';
    if (mnemonic === 'b') return `jump ${target}`;
    if (/^(?:b\.|cbn?z$|tbn?z$)/.test(mnemonic)) return `branch ${target}`;
    return /^(?:brk|hlt|udf|hvc|smc|eret|drps|dcps\d)$/.test(mnemonic) ? 'end' : 'next';
  },

  movedOf(text) {
    const plain = text.replace(/\s*\/\/.*$/, '');
    const [, operation, number, shift] = /^(add|sub)\s+sp, sp, #0x([0-9a-f]+)(?:, lsl #(12))?$/.exec(plain) ?? [];
    if (operation !== undefined) return (operation === 'add' ? 1 : -1) * (Number.parseInt(number, 16) << Number(shift ?? 0));
    const [, before, after] = /\[sp, #(-?\d+)\]!|\[sp\], #(-?\d+)$/.exec(plain) ?? [];
    if (before !== undefined || after !== undefined) return Number(before ?? after);
    return /^\w+\s+w?sp\b/.test(plain) && !/^(?:cmp|cmn|tst)/.test(plain) ? undefined : 0;
  },

  writtenBy(text) {
    const plain = text.replace(/\s*\/\/.*$/, '');
    if (/^(?:cmp|cmn|tst|ccmp|ccmn|st|cb|tb|b|ret|br|prf|msr|dc|ic|at|tlbi|hint|fcmp|whil|cas|swp|sys)/.test(plain)) return undefined;
    const [, number] = /^\S+\s+[xw](\d+)\b/.exec(plain) ?? [];
    return number === undefined || /^mov\s+x(\d+), x\1$|^add\s+x(\d+), x\2, #0x0$/.test(plain) ? undefined : Number(number);
  },
};

const POWERPC: Language = {
  objdump: 'powerpc64le-linux-gnu-objdump',
  libraries: ['libc.so.6', 'libm.so.6', 'libgcc_s.so.1', 'libstdc++.so.6'].map((name) => `/usr/powerpc64le-linux-gnu/lib/${name}`),
  sp: 1,

  isOther({ text }) {
    // How bctr goes on depends on the instructions before it, and bcl calls or only reads the address of the next one. attn is data.
    return /^(?:\.long|\.quad|bctr$|bcl |attn)/.test(text);
  },

  flowOf(text) {
    const [, mnemonic, operands] = /^(\S+?)[+-]?(?:\s+(.*?))?(?:\s*<.*)?$/.exec(text) ?? [];
    const target = operands?.split(',').at(-1)?.trim();
    if (/^(?:bl|bla|bctrl|blrl)$/.test(mnemonic)) return 'call';
    if (/^ba?$/.test(mnemonic)) return `jump ${target}`;
    if (/^b\w*lr$/.test(mnemonic) || /^b\w+ctr$/.test(mnemonic)) return 'leave';
    if (/^b(?:c|d?n?z|dnz[tf]|dz[tf]|eq|ne|lt|gt|le|ge|so|ns|un|nu)$/.test(mnemonic)) return `branch ${target}`;
    return mnemonic === 'trap' ? 'end' : 'next';
  },

  movedOf(text) {
    const [, distance] = /^stdu\s+r\d+,(-?\d+)\(r1\)/.exec(text) ?? /^addi\s+r1,r1,(-?\d+)/.exec(text) ?? [];
    if (distance !== undefined) return Number(distance);
    return /^(?!st|cmp|mt)\S+\s+r1,/.test(text) || /^stdux\s+r\d+,r1,/.test(text) ? undefined : 0;
  },

  writtenBy(text) {
    if (/^(?:st|cmp|mt|t[dw]|tabort|b|dc|ic|trap)/.test(text) || /^mr\s+(r\d+),\1$|^ori\s+(r\d+),\2,0$|^addis?\s+(r\d+),\3,0$/.test(text)) return undefined;
    const [, number] = /^\S+\s+r(\d+)\b/.exec(text) ?? [];
    return number === undefined || number === '1' ? undefined : Number(number);
  },
};

const S390X: Language = {
  objdump: 's390x-linux-gnu-objdump',
  libraries: ['libc.so.6', 'libm.so.6', 'libgcc_s.so.1', 'libstdc++.so.6'].map((name) => `/usr/s390x-linux-gnu/lib/${name}`),
  sp: 15,

  isOther({ svma, text }) {
    // A branch to an address that is not in a register, as in a switch of hand-written code; what only reads its own address; a trap, which jumps into itself.
    return /^(?:\.|b\s|b\w+r\s+%r0$|basr\s+%r\d+,%r0$)/.test(text) || text.startsWith(`j\t${(svma + 2).toString(16)} `);
  },

  flowOf(text) {
    const [mnemonic, ...operands] = text.replace(/\s*<.*/, '').split(/[\s,]+/);
    const target = operands.at(-1) ?? '';
    if (mnemonic === 'bras' && operands[0] !== '%r14') return `jump ${target}`;
    if (/^(?:brasl?|basr)$/.test(mnemonic)) return operands[0] === '%r14' ? 'call' : 'next';
    if (mnemonic === 'j' || mnemonic === 'jg') return `jump ${target}`;
    if (/^(?:br|b(?:n?(?:e|h|l|he|le|lh|p|m|o|z)r))$/.test(mnemonic)) return 'leave';
    if (/^(?:j(?:g)?(?!nop)\w+|c[lg]?[lg]?i?j\w*|c[lg]*rj\w*|brctg?|brxh?g?|brxlg|brxle|brxhg)$/.test(mnemonic)) return `branch ${target}`;
    return 'next';
  },

  movedOf(text) {
    const [, distance] = /^(?:aghi|agfi)\s+%r15,(-?\d+)$/.exec(text) ?? /^(?:la|lay)\s+%r15,(-?\d+)\(%r15\)$/.exec(text) ?? [];
    if (distance !== undefined) return Number(distance);
    // LMG goes on with r0 after r15.
    const isLoaded = /^\S+\s+(?:%r\d+,)?%r15\b/.test(text) || /^lmg\s+%r1\d,%r\d,/.test(text);
    return isLoaded && !/^(?:st|c)/.test(text) ? undefined : 0;
  },

  writtenBy(text) {
    if (
      /^(?:st(?!ck)|c(?!s|ds|[a-z]*(?:br|tr)a?\s)|tm|br?\s|b\w+r\s|bras|j|ppa|pfd|sfpc|lam|ltgr\s+(%r\d+),\1$|lgr\s+(%r\d+),\2$|sar|lm|tabort|ex|clm|nopr|aghi\s+%r\d+,0$)/.test(
        text,
      )
    )
      return undefined;
    const [, number] = /^\S+\s+%r(\d+)\b/.exec(text) ?? [];
    return number === undefined || number === '15' || /^la\s+%r(\d+),0\(%r\1\)$/.test(text) ? undefined : Number(number);
  },
};

/** By number. */
const LOONGARCH_REGISTERS = [
  ...['zero', 'ra', 'tp', 'sp'],
  ...Array.from({ length: 8 }, (_, i) => `a${i}`),
  ...Array.from({ length: 9 }, (_, i) => `t${i}`),
  ...['r21', 'fp'],
  ...Array.from({ length: 9 }, (_, i) => `s${i}`),
];

const LOONGARCH: Language = {
  objdump: 'loongarch64-linux-gnu-objdump',
  libraries: ['libc.so.6', 'libm.so.6', 'libgcc_s.so.1'].map((name) => `/usr/loongarch64-linux-gnu/lib/${name}`),
  sp: 3,

  isOther({ text }) {
    return text.startsWith('.word');
  },

  flowOf(text) {
    const [mnemonic, first = ''] = text.split(/[\s,]+/);
    const [, target] = /#\s*(?:0x)?([0-9a-f]+)/.exec(text) ?? [];
    if (mnemonic === 'bl' || (mnemonic === 'jirl' && first === '$ra')) return 'call';
    if (mnemonic === 'b') return `jump ${target}`;
    if (mnemonic === 'jr' || mnemonic === 'ret' || mnemonic === 'jirl') return 'leave';
    if (/^b(?:c?eqz|c?nez|eq|ne|lt|ge|ltu|geu|gt|le|gtu|leu|gtz|ltz|gez|lez)$/.test(mnemonic)) return `branch ${target}`;
    return mnemonic === 'break' ? 'end' : 'next';
  },

  movedOf(text) {
    const [, distance] = /^addi\.d\s+\$sp, \$sp, (-?\d+)/.exec(text) ?? [];
    if (distance !== undefined) return Number(distance);
    return /^(?!st|sc|b(?!str))\S+\s+\$sp,/.test(text) ? undefined : 0;
  },

  writtenBy(text) {
    if (
      /^(?:st|b(?!str|ytepick|itrev)|j|ret|preld|dbar|ibar|asrt|syscall|movgr2|nop|cacop|csrwr)/.test(text) ||
      /^(?:move|or|addi\.d)\s+(\$\w+), \1(?:$|, (?:\$zero|0)$)/.test(text)
    )
      return undefined;
    const [, name = ''] = /^\S+\s+\$(\w+)\b/.exec(text) ?? [];
    const register = LOONGARCH_REGISTERS.indexOf(name);
    return register <= 0 || register === 3 ? undefined : register;
  },
};

/** @param named names of the registers from 4 to 15 */
const mips = (triplet: string, named: readonly string[]): Language => {
  const registers = ['zero', 'at', 'v0', 'v1', ...named, ...Array.from({ length: 8 }, (_, i) => `s${i}`), 't8', 't9', 'k0', 'k1', 'gp', 'sp', 's8', 'ra'];
  return {
    objdump: `${triplet}-objdump`,
    libraries: ['libc.so.6', 'libm.so.6', 'libgcc_s.so.1'].map((name) => `/usr/${triplet}/lib/${name}`),
    sp: 29,
    hasDelaySlots: true,

    isOther({ svma, text }) {
      // A call of the instruction after the next one only reads its own address.
      return /^\.(?:word|short|byte)/.test(text) || (text.startsWith('b') && text.includes('al') && Number.parseInt(targetOf(text), 16) === svma + 8);
    },

    flowOf(text) {
      const [mnemonic, first = ''] = text.split(/[\s,]+/);
      if (/^(?:jalx?|jalr|bal|bgezall?|bltzall?)$/.test(mnemonic)) return 'call';
      if (mnemonic === 'jr') return first === 'ra' ? 'leave' : 'may-leave';
      if (mnemonic === 'b' || mnemonic === 'j') return `jump ${targetOf(text)}`;
      if (/^b(?:eq|ne|eqz|nez|lez|gtz|ltz|gez|c1f|c1t)l?$/.test(mnemonic)) return `branch ${targetOf(text)}`;
      return mnemonic === 'break' ? 'end' : 'next';
    },

    movedOf(text) {
      const [, distance] = /^d?addiu?\s+sp,sp,(-?\d+)/.exec(text) ?? [];
      if (distance !== undefined) return Number(distance);
      return /^(?!s[bhwd]|b|t[eln])\S+\s+sp,/.test(text) ? undefined : 0;
    },

    writtenBy(text) {
      if (/^(?:s[bhwd](?:[lr]|c1|xc1|c2)?\s|b|j|t[eln]|d?mt[cl0-9]|mth|ct|c\.|d?multu?\s|sync|pref|cache|nop|syscall|madd|msub)/.test(text)) return undefined;
      if (/^move\s+(\w+),\1$|^d?addiu\s+(\w+),\2,0$/.test(text)) return undefined;
      const [, name = ''] = /^\S+\s+(\w+)\b/.exec(text) ?? [];
      const register = registers.indexOf(name);
      return register <= 0 || register === 29 ? undefined : register;
    },
  };
};

function targetOf(text: string): string {
  return /([0-9a-f]+)(?:\s+<.*)?$/.exec(text)?.[1] ?? '';
}

const ARGUMENTS_AND_TEMPORARIES = (count: number): string[] => [
  ...Array.from({ length: count }, (_, i) => `a${i}`),
  ...Array.from({ length: 12 - count }, (_, i) => `t${i}`),
];
const MIPS64 = mips('mips64el-linux-gnuabi64', ARGUMENTS_AND_TEMPORARIES(8));
const MIPS = mips('mipsel-linux-gnu', ARGUMENTS_AND_TEMPORARIES(4));

function linesOf(objdump: string, path: string): Line[] {
  const { status, stdout, stderr } = runTool(objdump, ['-d', '-w', '-z', '--insn-width=16', path], {});
  if (status !== 0) throw new Error(stderr);
  return stdout.split('\n').flatMap((line) => {
    const [, at, listed, text = ''] = /^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+|[0-9a-f]{8} )\s*\t?(.*)$/.exec(line) ?? [];
    if (at === undefined) return [];
    // Words are listed as numbers, bytes one by one.
    const bytes = listed.length === 9 && !/ ./.test(listed) ? (listed.match(/../g) ?? []).reverse() : listed.trim().split(' ');
    return [{ svma: Number.parseInt(at, 16), bytes: Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 16)), text }];
  });
}

describe.each<[string, Language, () => InstructionDecoder]>([
  ['x86-64', X86_64, () => new X86Decoder(X86_64_MODE)],
  ['i386', I386, () => new X86Decoder(I386_MODE)],
  ['A64', A64, () => new A64Decoder()],
  ['PowerPC', POWERPC, () => new PowerpcDecoder(8)],
  ['s390x', S390X, () => new S390xDecoder()],
  ['LoongArch', LOONGARCH, () => new LoongarchDecoder()],
  ['MIPS, n64', MIPS64, () => new MipsDecoder(8)],
  ['MIPS, o32', MIPS, () => new MipsDecoder(4)],
])('code is followed as objdump reads it: %s', (name, language, makeDecoder) => {
  const { objdump, libraries, sp } = language;
  const missing = whyMissing(objdump);
  if (missing !== undefined) announceSkipped(`code of ${name} as objdump reads it`, missing);
  for (const path of libraries) if (!existsSync(path)) announceSkipped(`code of ${path}`, 'it is not installed');

  test.for(libraries)('%s', (path, { skip }) => {
    skip(missing !== undefined || !existsSync(path));
    const decoder = makeDecoder();
    const state = new ScanState();
    const wrong: string[] = [];
    let count = 0;
    for (const line of linesOf(objdump, path)) {
      if (language.isOther(line)) continue;
      count++;
      const { svma, bytes, text } = line;
      const byte = (at: number): number => bytes[at - svma] ?? 0;
      const code: CodeReader = {
        byte,
        half: (at) => byte(at) | (byte(at + 1) << 8),
        word: (at) => byte(at) | (byte(at + 1) << 8) | (byte(at + 2) << 16) | (byte(at + 3) << 24),
      };
      state.begin(sp);
      const flow = decoder.decode(code, svma, state);
      const target = flow === 'jump' || flow === 'branch' ? ` ${BigInt.asUintN(64, BigInt(decoder.target)).toString(16)}` : '';
      const moved = state.bases[sp] === sp ? state.offsets[sp] : Number.NaN;
      const expected = language.movedOf(text);
      const written = language.writtenBy(text);
      const changed = Array.from(state.bases.keys()).filter((register) => state.bases[register] !== register || state.offsets[register] !== 0);
      if (written !== undefined && !changed.includes(written)) wrong.push(`${svma.toString(16)} ${text}: register ${written} is as before`);
      const sizeBytes = bytes.length * (language.hasDelaySlots && flow !== 'next' && flow !== 'end' ? 2 : 1);
      if (decoder.sizeBytes !== sizeBytes || flow + target !== language.flowOf(text) || (expected !== undefined && moved !== expected)) {
        wrong.push(`${svma.toString(16)} ${text}: ${decoder.sizeBytes} bytes of ${sizeBytes}, ${flow}${target}, moved by ${moved} and not ${expected}`);
      }
    }
    expect(count).toBeGreaterThan(5000);
    expect(wrong.slice(0, 20)).toEqual([]);
  });
});
