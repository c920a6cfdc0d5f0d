import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeFile, type FileSpec, type RecordSpec, record } from '../../test/support/builders/recordings/perf-encoder.ts';
import { elfAnatomyOf, SHF_EXECINSTR } from '../anatomy/elf-anatomy.ts';
import { projectRoot } from '../project-root.ts';
import { at, CLOCK } from './rich-recording.ts';
import { type Seed, SINGLE_FILE } from './seed.ts';

const PID = 300;
const BASE = 0x7f00_0000_0000n;
const KERNEL_TEXT = 0xffff_ffff_8100_0000n;
/** Address of the kernel at another boot than that of the vmlinux and the symbol list. */
const KERNEL_START = KERNEL_TEXT + 0x20_0000n;
const MODULE_START = 0xffff_ffff_c000_0000n;
const KERNEL_CODE_BYTES = 0xe0;
const MODULE_CODE_BYTES = 0x100;
const KERNEL_ID = Uint8Array.from(Buffer.from('00112233445566778899aabbccddeeff00112205', 'hex'));

/** Maximum number of addresses looked up in an input: enough to search every unit. */
const MAX_ADDRESSES = 300;
const CHAIN = 20;

/** Programs, each with the files beside it. */
const PROGRAMS: readonly (readonly [folder: string, name: string, ...beside: readonly string[]])[] = [
  ['debug', 'gcc2'],
  ['debug', 'gcc4'],
  ['debug', 'gcc5'],
  ['debug', 'gcc5-sections'],
  ['debug', 'gcc5-gz'],
  ['debug', 'gcc4-dwz'],
  ['debug', 'clang5'],
  ['debug', 'rust'],
  ['debug', 'mips'],
  ['debug', 'ppc64'],
  ['debug', 'clang5-split', 'clang5-split.dwp'],
  ['debug', 'gcc4-split', 'gcc4-split.dwp'],
  ['symbol-files', 'zdebug'],
  ['symbol-files', 'zstd'],
  ['symbol-files', 'linked', 'linked.debug'],
  ['symbol-files', 'mini'],
  ['symbol-files', 'split', 'second.dwo'],
  ['symbol-files', 'dwz', 'dwz.alt'],
  ['symfs/opt/perfconv-fixtures/bin', 'tree'],
  ['symfs/opt/perfconv-fixtures/bin', 'threads'],
];

function fixture(folder: string, name: string): Uint8Array {
  return new Uint8Array(readFileSync(join(projectRoot(), 'fixtures', folder, name)));
}

/** A recording with samples at many addresses of a program. */
function programRecording(name: string, bytes: Uint8Array): FileSpec {
  const code = elfAnatomyOf(bytes).sections.filter(({ flags, end, start }) => (flags & SHF_EXECINSTR) !== 0 && end > start);
  const total = code.reduce((sum, { start, end }) => sum + end - start, 0);
  const step = Math.max(1, Math.ceil(total / MAX_ADDRESSES));
  const addresses: bigint[] = [];
  for (const { start, end } of code) for (let offset = start; offset < end; offset += step) addresses.push(BASE + BigInt(offset));
  return {
    attrs: [CLOCK],
    records: [
      record.comm({ pid: PID, comm: 'app' }, at(10)),
      record.mmap2({ pid: PID, tid: PID, addr: BASE, len: 0x10_0000n, prot: 5, filename: `/opt/bin/${name}`, ino: 9n }, at(11)),
      ...samplesAt(addresses, 2),
    ],
  };
}

/** A recording with samples in a kernel and in a module. */
function kernelRecording(): FileSpec {
  const kernel = Array.from({ length: KERNEL_CODE_BYTES / 2 }, (_, i) => KERNEL_START + BigInt(i * 2));
  const module = Array.from({ length: MODULE_CODE_BYTES / 2 }, (_, i) => MODULE_START + BigInt(i * 2));
  const map = { pid: -1, tid: 0, len: 0x1000n };
  return {
    attrs: [CLOCK],
    records: [
      record.mmap({ ...map, addr: KERNEL_START, pgoff: KERNEL_START, filename: '[kernel.kallsyms]_stext' }, { ...at(1), misc: 1 }),
      record.mmap({ ...map, addr: MODULE_START, filename: '/lib/modules/6.1.0/kernel/module.ko' }, { ...at(2), misc: 1 }),
      ...samplesAt([...kernel, ...module], 1),
    ],
    features: { osRelease: '6.1.0', buildIds: [{ pid: -1, misc: 1, buildId: KERNEL_ID, filename: '[kernel.kallsyms]' }] },
  };
}

function samplesAt(addresses: readonly bigint[], misc: number): RecordSpec[] {
  const samples: RecordSpec[] = [];
  for (let first = 0; first < addresses.length; first += CHAIN) {
    const callchain = addresses.slice(first, first + CHAIN);
    samples.push(record.sample({ ip: callchain[0], pid: PID, tid: PID, time: BigInt(20 + first), cpu: 0, period: 1n, callchain }, { misc }));
  }
  return samples;
}

/** A list as in `/proc/kallsyms`. */
function kallsyms(): Uint8Array {
  const kernel: readonly (readonly [offset: bigint, type: string, name: string])[] = [
    [0n, 'T', '_stext'],
    [0n, 't', 'rare'],
    [0x20n, 't', 'cube'],
    [0x30n, 'T', 'legacy'],
    [0xe0n, 'D', 'operations'],
  ];
  const lines = kernel.map(([offset, type, name]) => `${(KERNEL_TEXT + offset).toString(16)} ${type} ${name}`);
  const module = ['rare', 'cube', 'legacy'].map((name, i) => `${(MODULE_START + BigInt(i * 0x20)).toString(16)} t ${name}\t[module]`);
  return new TextEncoder().encode(`${[...lines, ...module].join('\n')}\n`);
}

/** A list as in `/proc/modules`. */
function modules(): Uint8Array {
  return new TextEncoder().encode(
    `module 16384 1 other, Live 0x${MODULE_START.toString(16)}\nother 4096 0 - Live 0x${(MODULE_START + 0x8000n).toString(16)} (OE)\n`,
  );
}

/** Recordings with samples all over some code, and the files with the symbols of that code. */
export function symbolSeeds(): Seed[] {
  const programs = PROGRAMS.map(([folder, name, ...beside]): Seed => {
    const bytes = fixture(folder, name);
    const files = beside.map((other): [string, Uint8Array] => [other, fixture(folder, other)]);
    return { kind: 'symbols', name, files: new Map([[SINGLE_FILE, encodeFile(programRecording(name, bytes))], [name, bytes], ...files]) };
  });
  const kernel = encodeFile(kernelRecording());
  const [vmlinux, module] = [fixture('symbol-files', 'vmlinux'), fixture('symbol-files', 'module.ko')];
  const kernelSeed = (name: string, others: readonly (readonly [string, Uint8Array])[]): Seed => ({
    kind: 'symbols',
    name,
    files: new Map([[SINGLE_FILE, kernel], ...others]),
  });
  return [
    ...programs,
    kernelSeed('vmlinux', [
      ['vmlinux', vmlinux],
      ['module.ko', module],
    ]),
    kernelSeed('kallsyms', [
      ['kallsyms', kallsyms()],
      ['modules', modules()],
      ['vmlinux', vmlinux],
      ['module.ko', module],
    ]),
  ];
}
