import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildElf, DATA, TEXT } from '../../test/support/builders/elf/elf-builder.ts';
import { encodeJitDump } from '../../test/support/builders/recordings/jitdump-encoder.ts';
import { type AttrSpec, encodeFile, type RecordSpec, record } from '../../test/support/builders/recordings/perf-encoder.ts';
import { assembleExidx, type PlannedExidx } from '../../test/support/builders/unwind/exidx-assembler.ts';
import { assembleFrames, assembleFrameTable, CfaCode } from '../../test/support/builders/unwind/frame-assembler.ts';
import { projectRoot } from '../project-root.ts';
import { DUMP_FILE } from './jit-recording.ts';
import { type Seed, SINGLE_FILE } from './seed.ts';

// Recordings with registers and stacks, and files that tell how their code is unwound, with rules of every kind. They are then mutated.

const PID = 200;
const SAMPLES = 24;
const STACK_WORDS = 48;
const MEMORY = 0x7f00_0000_0000n;
const FUNCTION_BYTES = 0x80;
const FUNCTIONS = TEXT.sizeBytes / FUNCTION_BYTES;

interface Machine {
  readonly arch: string;
  /** e_machine. */
  readonly elf: number;
  readonly classBits: 32 | 64;
  readonly littleEndian: boolean;
  /** DWARF's numbers of the stack pointer and of the return address. */
  readonly sp: number;
  readonly ra: number;
  /** What `sample_regs_user` asks for, and where stack pointer and program counter are among these. */
  readonly mask: bigint;
  readonly spAt: number;
  readonly pcAt: number;
}

/** Sources: the machines' ELF supplements; the kernel's asm/perf_regs.h. */
const X86_64: Machine = { arch: 'x86_64', elf: 62, classBits: 64, littleEndian: true, sp: 7, ra: 16, mask: 0xff0fffn, spAt: 7, pcAt: 8 };
const MACHINES: readonly Machine[] = [
  X86_64,
  { arch: 'i686', elf: 3, classBits: 32, littleEndian: true, sp: 4, ra: 8, mask: 0xfffn, spAt: 7, pcAt: 8 },
  { arch: 'aarch64', elf: 183, classBits: 64, littleEndian: true, sp: 31, ra: 30, mask: 0x1_ffff_ffffn, spAt: 31, pcAt: 32 },
  { arch: 'armv7l', elf: 40, classBits: 32, littleEndian: true, sp: 13, ra: 14, mask: 0xffffn, spAt: 13, pcAt: 15 },
  { arch: 'riscv64', elf: 243, classBits: 64, littleEndian: true, sp: 2, ra: 1, mask: 0xffff_ffffn, spAt: 2, pcAt: 0 },
  { arch: 's390x', elf: 22, classBits: 64, littleEndian: false, sp: 15, ra: 14, mask: 0x3_ffff_ffffn, spAt: 15, pcAt: 33 },
  { arch: 'mips64', elf: 8, classBits: 64, littleEndian: true, sp: 29, ra: 31, mask: 0xffff_ffffn, spAt: 29, pcAt: 0 },
];

/** @param returnTo by number, the offset in the code to put where a return address may be; default: any address of the code */
function recording(machine: Machine, filename: string, base: bigint, returnTo?: (nth: number) => number): Uint8Array {
  const { classBits, littleEndian, mask, spAt, pcAt, arch } = machine;
  const attr: AttrSpec = {
    name: 'cpu-clock',
    period: 1n,
    ids: [7n],
    sampleType: ['identifier', 'ip', 'tid', 'time', 'cpu', 'period', 'callchain', 'regsUser', 'stackUser'],
    sampleRegsUser: mask,
    sampleStackUser: STACK_WORDS * 8,
    flags: ['sampleIdAll', 'commExec', 'useClockid'],
    clockid: 1,
  };
  const registers = mask.toString(2).replaceAll('0', '').length;
  const sp = classBits === 64 ? 0x7ffd_0000_1000n : 0xbfff_1000n;
  const pcOf = (nth: number): bigint => base + BigInt((nth % FUNCTIONS) * FUNCTION_BYTES + ((nth * 37) % FUNCTION_BYTES));
  const records: RecordSpec[] = [
    record.comm({ pid: PID, comm: 'app' }, { sampleId: { time: 10n } }),
    record.mmap2({ pid: PID, addr: base, len: BigInt(TEXT.sizeBytes), pgoff: BigInt(TEXT.offset), filename, prot: 5, ino: 9n }, { sampleId: { time: 11n } }),
  ];
  for (let i = 0; i < SAMPLES; i++) {
    const regs = Array.from({ length: registers }, (_, nth) => sp + BigInt((nth % 16) * 8));
    regs[spAt] = sp;
    regs[pcAt] = pcOf(i);
    const data = new DataView(new ArrayBuffer(STACK_WORDS * 8));
    for (let word = 0; word < STACK_WORDS; word++) {
      // Return addresses, and frame pointers that lead on.
      const value = word % 4 === 3 ? sp + BigInt((word + 3) * 8) : returnTo === undefined ? pcOf(i + word) : base + BigInt(returnTo(i + word));
      if (classBits === 64) data.setBigUint64(word * 8, value, littleEndian);
      else for (const half of [0, 4]) data.setUint32(word * 8 + half, Number(value & 0xffff_ffffn), littleEndian);
    }
    const stackUser = { data: new Uint8Array(data.buffer), dynSize: BigInt(STACK_WORDS * 8) };
    const regsUser = { abi: (classBits === 64 ? 2 : 1) as 1 | 2, regs };
    records.push(
      record.sample({ ip: regs[pcAt], pid: PID, tid: PID, time: BigInt(20 + i), cpu: 0, period: 1n, callchain: [], regsUser, stackUser }, { misc: 2 }),
    );
  }
  return encodeFile({ attrs: [attr], records, features: { arch }, byteOrder: littleEndian ? 'little' : 'big' });
}

/** Rules of every kind: offsets, expressions, remembered states, a frame of a signal handler, a stack's start. */
function frames(machine: Machine, isDebugFrame: boolean, start: number, addr = 0): { readonly bytes: Uint8Array; readonly fdeOffsets: readonly number[] } {
  const { sp, ra, littleEndian, classBits } = machine;
  const word = classBits / 8;
  const code = (): CfaCode => new CfaCode(littleEndian);
  const initial = code().defCfa(sp, word).offset(ra, 1);
  const DW_OP = { deref: 0x06, plus: 0x22, lit8: 0x38, breg: 0x70, plusUconst: 0x23, dup: 0x12, skip: 0x2f };
  const bodies = [
    () =>
      code()
        .advance(1)
        .defCfaOffset(2 * word),
    () =>
      code()
        .advance(1)
        .defCfaOffset(2 * word)
        .offset(3, 2)
        .advance(4)
        .defCfaOffset(4 * word)
        .raw(0x0a)
        .advance(8)
        .defCfaOffset(word)
        .raw(0x0b),
    () => code().defCfaExpression(Uint8Array.of(DW_OP.breg + sp, 0x08, DW_OP.plusUconst, 8)),
    () =>
      code()
        .valExpression(3, Uint8Array.of(DW_OP.breg + sp, 0x10, DW_OP.dup, DW_OP.plus))
        .expression(5, Uint8Array.of(DW_OP.breg + sp, 0, DW_OP.deref)),
    () => code().defCfaExpression(Uint8Array.of(DW_OP.breg + sp, 0, DW_OP.skip, 0, 0, DW_OP.plusUconst, 16)),
    () => code().undefined(ra),
  ];
  const planned = Array.from({ length: FUNCTIONS }, (_, nth) => ({
    start: start + nth * FUNCTION_BYTES,
    sizeBytes: FUNCTION_BYTES,
    code: bodies[nth % (nth % 7 === 0 ? bodies.length : bodies.length - 1)](),
  }));
  const half = planned.length >> 1;
  const signal = isDebugFrame ? {} : { augmentation: 'zRS' };
  return assembleFrames(
    [
      [{ returnAddress: ra, code: initial, ...(isDebugFrame && { augmentation: '' }) }, planned.slice(0, half)],
      [{ returnAddress: ra, code: initial, ...(isDebugFrame ? { augmentation: '' } : signal) }, planned.slice(half, half + 2)],
      [{ returnAddress: ra, code: initial, ...(isDebugFrame && { augmentation: '' }) }, planned.slice(half + 2)],
    ],
    { littleEndian, addressSize: word, isDebugFrame, addr },
  );
}

function program({ elf, classBits, littleEndian }: Machine, moreSections: { readonly name: string; readonly content: Uint8Array }[]): Uint8Array {
  return new Uint8Array(buildElf({ classBits, littleEndian, machine: elf, moreSections }));
}

/** A program whose functions are described by Arm's tables; the larger descriptions are in its data. */
function armProgram(machine: Machine): Uint8Array {
  const plans: readonly PlannedExidx[] = [
    { inline: [0x3f, 0xb0] },
    { personality: 1, bytes: [0x84, 0x08, 0x9b, 0xb2, 0x04, 0xa8] },
    'cantunwind',
    { personality: 0, bytes: [0x01, 0xa3] },
    { personality: 2, bytes: [0xb1, 0x0f, 0xc9, 0x11, 0x80, 0x01, 0xb0] },
    { personality: 'generic', bytes: [0xa9, 0xb3, 0x21] },
  ];
  const functions = Array.from({ length: FUNCTIONS }, (_, nth) => [TEXT.vaddr + nth * FUNCTION_BYTES, plans[nth % plans.length]] as const);
  const [index, extab] = assembleExidx(functions, 0, DATA.vaddr);
  const bytes = program(machine, [{ name: '.ARM.exidx', content: index.content }]);
  bytes.set(extab.content.subarray(0, DATA.sizeBytes), DATA.offset);
  return bytes;
}

/** Functions that save registers, call and return, one after the other: code in 16-bit halves, and the offset to which calls return. */
const CODE: Readonly<Record<string, { readonly afterCall: number; readonly halves: readonly number[] }>> = {
  'armv7l-t32': { afterCall: 7, halves: [0xb510, 0xb082, 0x4798, 0xb002, 0xbf08, 0xbd10, 0xf85d, 0xfb04, 0x4770] },
  'armv7l-a32': { afterCall: 12, halves: [0x4010, 0xe92d, 0xd008, 0xe24d, 0xff33, 0xe12f, 0xd008, 0xe28d, 0x8010, 0x08bd, 0x8010, 0xe8bd, 0xff1e, 0xe12f] },
  // push rbp; mov rbp, rsp; push rbx; sub rsp, 24; call *rax; test eax, eax; je +2; xor ah, 32; add rsp, 24; pop rbx; leave; ret
  'x86_64-code': {
    afterCall: 11,
    halves: [0x4855, 0xe589, 0x4853, 0xec83, 0xff18, 0x85d0, 0x74c0, 0x8003, 0x20f4, 0x8348, 0x18c4, 0xc95b, 0x90c3],
  },
  // stp x29, x30, [sp, #-32]!; mov x29, sp; blr x8; cbz x0, +12; ldp x29, x30, [sp], #32; ret
  'aarch64-code': { afterCall: 12, halves: [0x7bfd, 0xa9be, 0x03fd, 0x9100, 0x0100, 0xd63f, 0x0060, 0xb400, 0x7bfd, 0xa8c2, 0x03c0, 0xd65f] },
  // daddiu sp, sp, -32; sd ra, 24(sp); jalr t9; nop; beqz v0, +12; nop; ld ra, 24(sp); jr ra; daddiu sp, sp, 32
  'mips64-code': {
    afterCall: 16,
    halves: [0xffe0, 0x67bd, 0x0018, 0xffbf, 0xf809, 0x0320, 0, 0, 0x0002, 0x1040, 0, 0, 0x0018, 0xdfbf, 0x0008, 0x03e0, 0x0020, 0x67bd],
  },
  'riscv64-code': { afterCall: 10, halves: [0x1101, 0xe806, 0xec22, 0x1000, 0x9782, 0xc501, 0x60c2, 0x6462, 0x6105, 0x8082] },
};

/** A program without rules, whose stacks are unwound by what its code does. */
function programOf(machine: Machine, halves: readonly number[]): Uint8Array {
  const bytes = program(machine, []);
  const view = new DataView(bytes.buffer, bytes.byteOffset + TEXT.offset, TEXT.sizeBytes);
  for (let at = 0; at < TEXT.sizeBytes; at += 2) view.setUint16(at, halves[(at / 2) % halves.length], true);
  return bytes;
}

/** A jitdump whose one function is as large as a program's text. */
function jitDump(): Uint8Array {
  const { bytes } = frames(X86_64, false, Number(MEMORY), Number(MEMORY) + TEXT.sizeBytes);
  const sizes = new DataView(new ArrayBuffer(24));
  sizes.setBigUint64(0, BigInt(bytes.length), true);
  return encodeJitDump({
    records: [
      { other: 4, body: Buffer.concat([new Uint8Array(sizes.buffer), bytes]) },
      { load: 'f', at: MEMORY, code: TEXT.sizeBytes, time: 12n },
    ],
  });
}

/** Recordings of stacks to be unwound, with the files that tell how. */
export function unwindSeeds(): Seed[] {
  const seed = (name: string, machine: Machine, file: string, bytes: Uint8Array, path = `/opt/bin/${file}`, returnTo?: (nth: number) => number): Seed => ({
    kind: 'unwind',
    name,
    files: new Map([
      [SINGLE_FILE, recording(machine, path, machine.classBits === 64 ? MEMORY : 0x1_0000n, returnTo)],
      [file, bytes],
    ]),
  });
  const seeds = MACHINES.flatMap((machine) => {
    const { bytes, fdeOffsets } = frames(machine, false, TEXT.vaddr);
    // The table comes after the frames, in the same artificial address space, which begins with them.
    const table = assembleFrameTable(
      0x10_0000,
      0,
      fdeOffsets.map((at, nth) => [TEXT.vaddr + nth * FUNCTION_BYTES, at] as const),
    );
    return [
      seed(`${machine.arch}-eh_frame`, machine, 'app', program(machine, [{ name: '.eh_frame', content: bytes }])),
      seed(`${machine.arch}-debug_frame`, machine, 'app', program(machine, [{ name: '.debug_frame', content: frames(machine, true, TEXT.vaddr).bytes }])),
      ...(machine.littleEndian
        ? [
            seed(
              `${machine.arch}-table`,
              machine,
              'app',
              program(machine, [
                { name: '.eh_frame_hdr', content: table },
                { name: '.eh_frame', content: bytes },
              ]),
            ),
          ]
        : []),
    ];
  });
  const arm = MACHINES[3];
  const fixture = (path: string): Uint8Array => new Uint8Array(readFileSync(join(projectRoot(), 'fixtures', path)));
  const binary = (name: string): Uint8Array => fixture(`symfs/opt/perfconv-fixtures/bin/${name}`);
  return [
    ...seeds,
    ...Object.entries(CODE).map(([name, { afterCall, halves }]) => {
      const machine = MACHINES.find(({ arch }) => name.startsWith(arch)) ?? arm;
      return seed(name, machine, 'app', programOf(machine, halves), '/opt/bin/app', (nth) => (nth % FUNCTIONS) * 2 * halves.length + afterCall);
    }),
    seed('arm-exidx', arm, 'app', armProgram(arm)),
    seed('gcc', X86_64, 'tree', binary('tree')),
    {
      kind: 'unwind',
      name: 'recorded',
      files: new Map([
        [SINGLE_FILE, fixture('dwarf.data')],
        ['frameless', binary('frameless')],
      ]),
    },
    seed('jit', X86_64, DUMP_FILE, jitDump(), `/tmp/${DUMP_FILE}`),
  ];
}
