import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { readUnwindModule, type UnwindModule } from '../../../src/unwind/modules/unwind-module.ts';
import { buildElf, TEXT } from './elf/elf-builder.ts';
import { buildGoTable, type GoTablePlan, type ValueUpTo } from './elf/go-table-builder.ts';

/** Where the first function of {@link goModule} begins. */
export const GO_START = TEXT.vaddr + 0x100;

export interface GoProgram {
  readonly version: GoTablePlan['version'];
  readonly classBits: 32 | 64;
  readonly machine: number;
  /** Default: true. */
  readonly littleEndian?: boolean;
  readonly name?: string;
  /** A second function, of 16 bytes, right after the first one. */
  readonly nextName?: string;
  /** By default 24 bytes after the prologue (8 bytes) and before the epilogue (from 40 on). */
  readonly frameSizes?: readonly ValueUpTo[];
  /** Those of the second function. Default: none. */
  readonly nextFrameSizes?: readonly ValueUpTo[];
  readonly usesAllTables?: boolean;
  /** What is at {@link GO_START}. */
  readonly text?: Uint8Array;
  readonly damage?: (bytes: Uint8Array) => void;
}

const FRAME_SIZES = [
  [8, 0],
  [40, 24],
  [48, 0],
] as const;

/** A stripped Go program with a function of 48 bytes. */
export async function goModule({
  version,
  classBits,
  machine,
  littleEndian = true,
  name = 'main.run',
  nextName,
  frameSizes = FRAME_SIZES,
  nextFrameSizes = [[16, 0]],
  usesAllTables = true,
  text = new Uint8Array(),
  damage,
}: GoProgram): Promise<UnwindModule> {
  const start = version >= 18 ? 0 : GO_START;
  const pointerSize = classBits === 64 ? 8 : 4;
  const functions = [{ name, start, frameSizes }, ...(nextName === undefined ? [] : [{ name: nextName, start: start + 48, frameSizes: nextFrameSizes }])];
  const end = start + (nextName === undefined ? 48 : 64);
  const { bytes } = buildGoTable({ version, littleEndian, pointerSize, textStart: GO_START, functions, end });
  damage?.(bytes);
  const elf = buildElf({ classBits, littleEndian, machine, moreSections: [{ name: '.gopclntab', content: bytes }] });
  elf.set(text, TEXT.offset + GO_START - TEXT.vaddr);
  return readUnwindModule(await ElfFile.open(new BufferSource(elf, 'program')), { usesAllTables });
}
