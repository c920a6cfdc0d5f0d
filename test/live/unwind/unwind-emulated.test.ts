import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { FunctionDescriptors } from '../../../src/elf/symbols/function-descriptors.ts';
import type { UnwindInput } from '../../../src/unwind/frames/unwind-input.ts';
import type { UnwindMachine } from '../../../src/unwind/machines/unwind-machine.ts';
import { readUnwindModule } from '../../../src/unwind/modules/unwind-module.ts';
import { Unwinder } from '../../../src/unwind/unwinder.ts';
import { MadeSpace } from '../../support/builders/unwind/made-process.ts';
import { runs } from '../../support/perf/perf-oracle.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';

const SOURCE = fileURLToPath(new URL('../../support/programs/emulated-stacks.c', import.meta.url));

/** Which functions call one, in the program. */
const CALLERS: Readonly<Record<string, readonly string[]>> = {
  leaf: ['outer', 'clean'],
  outer: ['dynamic'],
  dynamic: ['many'],
  many: ['floats'],
  floats: ['compare'],
  compare: ['sort'],
  sort: ['large'],
  large: ['recurse'],
  recurse: ['recurse', 'main'],
  clean: ['first', 'second', 'third'],
  stop: ['thrower', 'first', 'second', 'third'],
  thrower: ['third'],
  third: ['second'],
  second: ['first'],
  first: ['catcher'],
  catcher: ['main'],
  main: [],
};
const RECURSIONS = 7;

interface Target {
  readonly machine: UnwindMachine;
  readonly compiler: string;
  /** The C library, if compilers do not come with it. */
  readonly library?: string;
  readonly emulator: string;
  /** `sample_regs_user` of the samples that the program writes. */
  readonly maskLo: number;
  readonly maskHi: number;
}

const TARGETS: Readonly<Record<string, Target>> = {
  arm64: { machine: 'aarch64', compiler: 'aarch64-linux-gnu-gcc', emulator: 'qemu-aarch64', maskLo: 0xffff_ffff, maskHi: 1 },
  arm: { machine: 'arm', compiler: 'arm-linux-gnueabihf-gcc', emulator: 'qemu-arm', maskLo: 0xffff, maskHi: 0 },
  riscv64: { machine: 'riscv64', compiler: 'riscv64-linux-gnu-gcc', emulator: 'qemu-riscv64', maskLo: 0xffff_ffff, maskHi: 0 },
  s390x: { machine: 's390x', compiler: 's390x-linux-gnu-gcc', emulator: 'qemu-s390x', maskLo: 0xffff_ffff, maskHi: 3 },
  ppc64le: { machine: 'ppc64', compiler: 'powerpc64le-linux-gnu-gcc', emulator: 'qemu-ppc64le', maskLo: 0xffff_ffff, maskHi: 0x1f },
  ppc64: { machine: 'ppc64', compiler: 'powerpc64-linux-gnu-gcc', emulator: 'qemu-ppc64', maskLo: 0xffff_ffff, maskHi: 0x1f },
  ppc: { machine: 'ppc', compiler: 'powerpc-linux-gnu-gcc', emulator: 'qemu-ppc', maskLo: 0xffff_ffff, maskHi: 0x1f },
  mips64el: { machine: 'mips64', compiler: 'mips64el-linux-gnuabi64-gcc', emulator: 'qemu-mips64el', maskLo: 0xffff_ffff, maskHi: 0 },
  mipsn32el: {
    machine: 'mips64',
    compiler: 'mips64el-linux-gnuabi64-gcc',
    library: '/usr/mips64el-linux-gnuabi64/lib32/libc.a',
    emulator: 'qemu-mipsn32el',
    maskLo: 0xffff_ffff,
    maskHi: 0,
  },
  mips64: { machine: 'mips64', compiler: 'mips64-linux-gnuabi64-gcc', emulator: 'qemu-mips64', maskLo: 0xffff_ffff, maskHi: 0 },
  mipsel: { machine: 'mips', compiler: 'mipsel-linux-gnu-gcc', emulator: 'qemu-mipsel', maskLo: 0xffff_ffff, maskHi: 0 },
  mips: { machine: 'mips', compiler: 'mips-linux-gnu-gcc', emulator: 'qemu-mips', maskLo: 0xffff_ffff, maskHi: 0 },
};

/** Functions are left as by an exception, until `longjmp` ends that. A few stacks may be taken in between. */
const UNWINDS = '-fexceptions -DUNWINDS';

/**
 * The share of stacks that must be right. Tables of 32-bit Arm are only for calls, and leave out prologues and epilogues, where an emulator often
 * interrupts; in the C library of RISC-V, many functions have no rules, and with some options the whole program has none.
 */
const CASES: readonly (readonly [target: string, options: string, least: number])[] = [
  ['arm64', '-O2', 0.98],
  ['arm64', '-O0', 0.98],
  ['arm64', '-O2 -mbranch-protection=standard', 0.98],
  ['arm64', '-O2 -fno-asynchronous-unwind-tables -fno-omit-frame-pointer', 0.98],
  ['arm64', '-O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -fomit-frame-pointer', 0.98],
  ['arm64', '-Os -fno-asynchronous-unwind-tables -fno-unwind-tables -fomit-frame-pointer -mbranch-protection=standard', 0.98],
  ['arm64', '-O0 -fno-asynchronous-unwind-tables -fno-unwind-tables', 0.98],
  ['arm64', `-O2 ${UNWINDS}`, 0.99],
  ['arm64', `-O0 -mbranch-protection=standard ${UNWINDS}`, 0.99],
  ['riscv64', '-O2 -fasynchronous-unwind-tables', 0.98],
  ['riscv64', `-O2 ${UNWINDS}`, 0.99],
  ['riscv64', '-O0 -fasynchronous-unwind-tables', 0.98],
  ['riscv64', '-Os -fasynchronous-unwind-tables -msave-restore', 0.98],
  ['riscv64', '-O2 -fno-asynchronous-unwind-tables', 0.98],
  // The caller of the function that saves registers for others is not found.
  ['riscv64', '-Os -fno-asynchronous-unwind-tables -msave-restore', 0.95],
  ['s390x', '-O2', 0.98],
  ['s390x', '-O0', 0.98],
  ['s390x', `-O2 ${UNWINDS}`, 0.99],
  ['s390x', '-O2 -fno-asynchronous-unwind-tables -fno-unwind-tables', 0.98],
  ['s390x', '-Os -fno-asynchronous-unwind-tables -fno-unwind-tables', 0.98],
  ['s390x', '-O0 -fno-asynchronous-unwind-tables -fno-unwind-tables', 0.98],
  ['ppc64le', '-O2', 0.96],
  ['ppc64le', '-O0', 0.96],
  ['ppc64le', `-O2 ${UNWINDS}`, 0.99],
  ['ppc64le', '-O2 -fno-asynchronous-unwind-tables -fno-unwind-tables', 0.96],
  ['ppc64le', '-Os -fno-asynchronous-unwind-tables -fno-unwind-tables', 0.96],
  ['ppc64le', '-O0 -fno-asynchronous-unwind-tables -fno-unwind-tables', 0.96],
  ['ppc64', '-O2', 0.96],
  ['ppc64', '-O2 -fno-asynchronous-unwind-tables -fno-unwind-tables', 0.96],
  ['ppc', '-O2', 0.98],
  ['ppc', '-O0', 0.98],
  ['ppc', `-O2 ${UNWINDS}`, 0.99],
  ['ppc', '-O2 -fno-asynchronous-unwind-tables -fno-unwind-tables', 0.98],
  ['ppc', '-Os -fno-asynchronous-unwind-tables -fno-unwind-tables', 0.98],
  ['mips64el', '-O2', 0.98],
  ['mips64el', '-O0', 0.98],
  ['mips64el', `-O2 ${UNWINDS}`, 0.99],
  ['mips64el', '-O2 -fasynchronous-unwind-tables', 0.98],
  ['mips64el', '-O2 -g', 0.98],
  ['mips64el', '-Os -fno-delayed-branch', 0.98],
  ['mipsn32el', '-O2 -mabi=n32', 0.98],
  ['mipsn32el', '-O2 -mabi=n32 -fasynchronous-unwind-tables', 0.98],
  ['mips64', '-O2', 0.98],
  ['mips64', '-O2 -fasynchronous-unwind-tables', 0.98],
  ['mipsel', '-O2', 0.98],
  ['mipsel', '-O2 -g', 0.98],
  ['mipsel', '-O0', 0.98],
  ['mipsel', `-O2 ${UNWINDS}`, 0.99],
  ['mipsel', '-Os -mno-abicalls -fno-pic', 0.98],
  ['mips', '-O2', 0.98],
  ['mips', '-O2 -fasynchronous-unwind-tables', 0.98],
  ['arm', '-O2 -g', 0.98],
  ['arm', '-O2 -marm -funwind-tables', 0.98],
  ['arm', '-O1 -mthumb -funwind-tables', 0.98],
  ['arm', '-O0 -marm -funwind-tables', 0.98],
  ['arm', '-O2 -mthumb', 0.98],
  ['arm', '-O2 -marm', 0.98],
];

const present = new Set(
  Object.entries(TARGETS)
    .filter(
      ([, { compiler, library, emulator }]) => runs(compiler, ['--version']) && runs(emulator, ['--version']) && (library === undefined || existsSync(library)),
    )
    .map(([name]) => name),
);
for (const [name, { compiler, library, emulator }] of Object.entries(TARGETS))
  if (!present.has(name)) announceSkipped(`stacks of ${name}`, `no ${[compiler, ...(library === undefined ? [] : [library]), emulator].join(', or no ')}`);

interface ProgramFunction {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** @param descriptors of big-endian PowerPC, to which symbols lead */
function functionsOf(path: string, descriptors: FunctionDescriptors | undefined): ProgramFunction[] {
  const text = execFileSync('readelf', ['-sW', path], { encoding: 'latin1', maxBuffer: 1 << 28 });
  const rows = text.matchAll(/^ *\d+: ([0-9a-f]+) +(\d+) FUNC +\w+ +\w+ +(?:\[.*?\] +)?\S+ (\S+)$/gm);
  return [...rows].flatMap(([, value, size, symbol]) => {
    const symbolStart = Number.parseInt(value, 16);
    const start = descriptors?.codeOf(symbolStart) ?? symbolStart;
    // Functions that the compiler specialised or divided have a suffix after a dot; Thumb's addresses are odd.
    const name = symbol.replace(/\..*/, '');
    return name in CALLERS ? [{ name, start: start - (start % 2), end: start - (start % 2) + Number(size) }] : [];
  });
}

/** The samples that the program wrote: counts and sizes, registers, stack. */
function inputsOf(bytes: Uint8Array, { machine, maskLo, maskHi }: Target, littleEndian: boolean): UnwindInput[] {
  const view = new ByteView(new Uint8Array(bytes), littleEndian);
  const inputs: UnwindInput[] = [];
  for (let at = 0; at + 16 <= view.length; ) {
    const regsOffset = at + 16;
    const stackOffset = regsOffset + 8 * view.u64(at);
    const stackSizeBytes = view.u64(at + 8);
    inputs.push({ machine, view, regsOffset, regsMaskLo: maskLo, regsMaskHi: maskHi, stackOffset, stackSizeBytes });
    at = stackOffset + stackSizeBytes;
  }
  return inputs;
}

/** What is wrong with a stack, given as names of functions from the leaf on, `?` for those of libraries; undefined if it is right. */
function problem(names: readonly string[], end: string): string | undefined {
  const own = names.filter((name) => name !== '?');
  const text = `${end}: ${names.join(' ')}`;
  // Before main, and in the program's start code, there are none of its functions.
  if (end !== 'complete' || (own.length > 0 && own.at(-1) !== 'main')) return text;
  for (let i = 0; i + 1 < own.length; i++) if (!CALLERS[own[i]].includes(own[i + 1])) return text;
  return own.includes('large') && own.filter((name) => name === 'recurse').length !== RECURSIONS ? text : undefined;
}

describe('stacks of programs on emulated machines', () => {
  let dir = '';
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'perfconv-emulated-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it.for(CASES)('are their call paths: %s %s', async ([name, options, least], { skip }) => {
    skip(!present.has(name));
    const target = TARGETS[name];
    const path = join(dir, 'program');
    // Calls stay calls: they become neither inlined code, nor jumps, nor calls of clones.
    const calls = ['-fno-optimize-sibling-calls', '-fno-ipa-cp', '-fno-ipa-sra', '-fno-partial-inlining'];
    execFileSync(target.compiler, ['-w', '-static', ...calls, ...options.split(' '), '-o', path, SOURCE], { stdio: 'ignore' });
    const elf = await ElfFile.open(new BufferSource(readFileSync(path)));
    const inputs = inputsOf(execFileSync(target.emulator, [path], { maxBuffer: 1 << 28 }), target, elf.littleEndian);
    const module = await readUnwindModule(elf);
    const functions = functionsOf(path, await FunctionDescriptors.read(elf));
    const space = new MadeSpace().map(0x1000, Math.max(...elf.loads.map(({ vaddr, memsz }) => vaddr + memsz)), module);
    const unwinder = new Unwinder();
    const problems: string[] = [];
    let called = 0;
    for (const input of inputs) {
      let end = unwinder.unwind(input, space);
      for (; end === 'pending' && unwinder.endModule?.wantsBytes; end = unwinder.unwind(input, space)) await unwinder.endModule.readWanted();
      const names = Array.from(unwinder.frames.subarray(0, unwinder.frameCount), (address, i) => {
        const at = address - unwinder.isCall[i];
        return functions.find(({ start, end: after }) => at >= start && at < after)?.name ?? '?';
      });
      if (names.includes('recurse') || names.includes('catcher')) called++;
      const wrong = problem(names, end);
      if (wrong !== undefined) problems.push(wrong);
    }
    expect([inputs.length, called > 300]).toEqual([400, true]);
    expect(1 - problems.length / inputs.length, problems.slice(0, 5).join('\n')).toBeGreaterThanOrEqual(least);
  });
});
