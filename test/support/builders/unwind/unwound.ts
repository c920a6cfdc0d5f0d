import { expect } from 'vitest';
import { ByteView } from '../../../../src/base/bytes/byte-view.ts';
import { BufferSource } from '../../../../src/base/streams/byte-source.ts';
import { PF_X, PT_LOAD } from '../../../../src/elf/elf-constants.ts';
import { ElfFile } from '../../../../src/elf/elf-file.ts';
import { FrameSection } from '../../../../src/elf/frame-tables/frame-section.ts';
import { FrameTable } from '../../../../src/elf/frame-tables/frame-table.ts';
import type { UnwindMachine } from '../../../../src/unwind/machines/unwind-machine.ts';
import { ModuleMemory } from '../../../../src/unwind/modules/module-memory.ts';
import { readUnwindModule, UnwindModule } from '../../../../src/unwind/modules/unwind-module.ts';
import { FrameIndex } from '../../../../src/unwind/rules/frame-index.ts';
import { NO_TABLES, type UnwindModuleOptions } from '../../../../src/unwind/rules/unwind-tables.ts';
import { Unwinder, type UnwinderOptions } from '../../../../src/unwind/unwinder.ts';
import { buildSectionElf, type PlannedElfSection } from '../elf/section-elf.ts';
import { assembleFrames, assembleFrameTable, type PlannedCie, type PlannedFde } from './frame-assembler.ts';
import { isNarrow, type MadeSample, type MadeSpace, madeInput } from './made-process.ts';

const EM: Readonly<Record<UnwindMachine, number>> = {
  x86_64: 62,
  i386: 3,
  aarch64: 183,
  arm: 40,
  riscv64: 243,
  s390x: 22,
  ppc64: 21,
  ppc: 20,
  loongarch64: 258,
  mips64: 8,
  mips: 8,
};

/** The address of a table of frames, where there is no code. */
const TABLE_ADDR = 0x40_0000;

export interface UnwoundSample {
  readonly end: string;
  /** Addresses, with a `!` before those that are not return addresses: the leaf, and code that signals interrupted. */
  readonly frames: readonly string[];
  readonly endAddress: number;
  readonly endFile: number;
  /** Undefined except after `truncated`. */
  readonly endStackOffset: number | undefined;
}

/**
 * Unwinds a made-up sample, reading what it needs of files in between: by itself, and then with what can be remembered of the space, which must give the
 * same result.
 */
export async function unwound(sample: MadeSample, space: MadeSpace, options?: UnwinderOptions): Promise<UnwoundSample> {
  const { generation } = space;
  space.generation = undefined;
  const first = await unwoundBy(new Unwinder(options), sample, space);
  space.generation = generation;
  const unwinder = new Unwinder(options);
  for (const how of ['at first', 'again']) expect({ how, ...(await unwoundBy(unwinder, sample, space)) }).toEqual({ how, ...first });
  return first;
}

async function unwoundBy(unwinder: Unwinder, sample: MadeSample, space: MadeSpace): Promise<UnwoundSample> {
  const input = madeInput(sample);
  let end = unwinder.unwind(input, space);
  for (let i = 0; end === 'pending' && unwinder.endModule?.wantsBytes && i < 100; i++) {
    await unwinder.endModule.readWanted();
    end = unwinder.unwind(input, space);
  }
  const frames = Array.from(unwinder.frames.subarray(0, unwinder.frameCount), (address, i) => `${unwinder.isCall[i] === 1 ? '' : '!'}${address.toString(16)}`);
  return { end, frames, endAddress: unwinder.endAddress, endFile: unwinder.endFile, endStackOffset: end === 'truncated' ? unwinder.endStackOffset : undefined };
}

type Groups = readonly (readonly [PlannedCie, readonly PlannedFde[]])[];

type Entry = readonly [start: number, fdeAddr: number];

/** A module with these rules, which a table lists, and no bytes. @param listed chooses the table's entries among the sorted ones; default: all */
export function moduleOf(
  machine: UnwindMachine,
  groups: Groups,
  littleEndian = true,
  listed: (entries: readonly Entry[]) => readonly Entry[] = (entries) => entries,
): UnwindModule {
  const addressSize = isNarrow(machine) ? 4 : 8;
  const common = { addressSize, textAddr: 0 } as const;
  const { bytes, fdeOffsets } = assembleFrames(groups, { addressSize, littleEndian });
  const section = new FrameSection({ ...common, view: new ByteView(bytes, littleEndian), addr: 0, dataAddr: 0, isDebugFrame: false, hasCodeAtZero: true });
  const entries = groups.flatMap(([, fdes]) => fdes).map(({ start }, i) => [start, fdeOffsets[i]] as const);
  const table = assembleFrameTable(TABLE_ADDR, 0, listed(entries.toSorted(([a], [b]) => a - b)));
  // The table is written only for little-endian machines.
  const frameTable = littleEndian ? FrameTable.read({ ...common, view: new ByteView(table, true), addr: TABLE_ADDR, dataAddr: TABLE_ADDR }) : undefined;
  const frames = [new FrameIndex(section, frameTable)];
  return new UnwindModule(machine, { ...NO_TABLES, frames, frameTable }, new ModuleMemory(undefined, littleEndian));
}

/** The same without a table. */
export function moduleWithoutTable(machine: UnwindMachine, groups: Groups): UnwindModule {
  return UnwindModule.ofEhFrame({ machine, view: new ByteView(assembleFrames(groups).bytes, true), addr: 0 });
}

/** Code at an svma of a made-up file. */
export interface MadeCode {
  readonly svma: number;
  readonly bytes: Uint8Array;
}

/** Words of instructions, as an assembler lists them. */
export function textOf(listing: string, littleEndian = true): Uint8Array {
  const words = listing.split(' ').map((word) => Number.parseInt(word, 16));
  const text = new DataView(new ArrayBuffer(4 * words.length));
  words.forEach((word, i) => {
    text.setUint32(4 * i, word, littleEndian);
  });
  return new Uint8Array(text.buffer);
}

/** A made-up file, whose code is mapped by segments of its own. */
export async function madeElf(
  machine: UnwindMachine,
  code: readonly MadeCode[],
  sections: readonly PlannedElfSection[] = [],
  littleEndian = machine !== 's390x',
): Promise<ElfFile> {
  const classBits = isNarrow(machine) ? 32 : 64;
  const texts = code.map(({ svma, bytes }, i): PlannedElfSection => ({ name: `.text${i}`, flags: 6, addr: svma, content: bytes }));
  const file = buildSectionElf({ classBits, littleEndian, machine: EM[machine], sections: [...texts, ...sections] });
  const elf = await ElfFile.open(new BufferSource(file, 'made'));
  const loads = elf.sections
    .filter(({ flags }) => (flags & 2) !== 0)
    .map(({ name, offset, addr, sizeBytes }) => {
      const flags = 4 | (name.startsWith('.text') ? PF_X : 0);
      return { type: PT_LOAD, flags, offset, vaddr: addr, filesz: sizeBytes, memsz: sizeBytes, align: 1 };
    });
  return elf.withSegments(loads);
}

/** A module of a made-up file. */
export async function madeModule(
  machine: UnwindMachine,
  code: readonly MadeCode[],
  sections: readonly PlannedElfSection[] = [],
  { littleEndian, ...options }: UnwindModuleOptions & { readonly littleEndian?: boolean } = {},
): Promise<UnwindModule> {
  return readUnwindModule(await madeElf(machine, code, sections, littleEndian), options);
}
