import { ByteView } from '../base/bytes/byte-view.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import { firstAbove } from '../base/tables/first-above.ts';
import { SHT_NOBITS } from '../elf/elf-constants.ts';
import type { ElfFile, ElfSection } from '../elf/elf-file.ts';
import { GoTable } from './go-table.ts';
import { findModuleData, type ModuleData } from './module-data.ts';

/** The second is in position-independent programs. */
const SECTIONS = ['.gopclntab', '.data.rel.ro.gopclntab'];
/**
 * The section in which linkers other than Go's put the table in position-independent programs, among other data, and the section that tells
 * that there may be one.
 */
const MIXED_SECTION = '.data.rel.ro';
const GO_SECTION = '.go.buildinfo';
const ALIGNMENT_BYTES = 8;
/** How many places that look like the table are tried. */
const MAX_TRIES = 64;
/** A larger table is not read: it may be a hole. Kubernetes has some 30 megabytes. */
const MAX_TABLE_SIZE_BYTES = 256 << 20;

/** A Go program's functions, in the order of their addresses. */
export class GoFunctions {
  readonly table: GoTable;
  /** Where the table is mapped (svma). */
  readonly addr: number;
  /** Where the functions begin (svma), and where the last one ends. */
  readonly starts: Float64Array;
  /** What the runtime knows about the program; undefined if it was not found, or not looked for (before Go 1.18). */
  readonly moduleData: ModuleData | undefined;

  /** @param textStart what the table's starts count from */
  constructor(table: GoTable, addr: number, textStart: number, moduleData: ModuleData | undefined) {
    this.table = table;
    this.addr = addr;
    this.starts = Float64Array.from({ length: table.functionCount + 1 }, (_, i) => textStart + table.startOf(i));
    this.moduleData = moduleData;
  }

  /** Index of the function that contains an address (svma); −1 if none does. */
  find(svma: number): number {
    const index = firstAbove(this.starts, svma, 0, this.starts.length) - 1;
    return index < this.table.functionCount ? index : -1;
  }

  /** Size of a function in bytes, including the padding up to the next one. */
  sizeOf(index: number): number {
    return this.starts[index + 1] - this.starts[index];
  }
}

/** Whether a file has, or may have, a table of Go's functions. */
export function mayHaveGoTable(elf: ElfFile): boolean {
  return tableSections(elf).length > 0;
}

/**
 * Finds a Go program's own table of its functions, which the runtime needs and stripping keeps.
 * @returns undefined if there is none, or nothing says where in the file its functions are
 * @throws PerfconvError `damaged`; `unsupported` for an unknown version
 */
export async function findGoFunctions(elf: ElfFile): Promise<GoFunctions | undefined> {
  const found = await findTable(elf);
  if (found === undefined) return undefined;
  const { table, addr } = found;
  const moduleData = table.isRelative ? await findModuleData(elf, table, addr) : undefined;
  const textStart = table.isRelative ? textStartOf(elf, table, moduleData) : 0;
  if (textStart === undefined) return undefined;
  return new GoFunctions(table, addr, textStart, moduleData);
}

async function findTable(elf: ElfFile): Promise<Pick<GoFunctions, 'table' | 'addr'> | undefined> {
  for (const section of tableSections(elf)) {
    const view = await elf.readSection(section);
    if (section.name !== MIXED_SECTION) return { table: GoTable.read(view, elf.source.name), addr: section.addr };
    const found = findAmongData(view, elf.source.name);
    if (found !== undefined) return { table: found.table, addr: section.addr + found.at };
  }
  return undefined;
}

/** Finds a table among other data, which may look like the beginning of one. */
function findAmongData(view: ByteView, file: string): { readonly table: GoTable; readonly at: number } | undefined {
  let tries = 0;
  for (let at = 0; at < view.length && tries < MAX_TRIES; at += ALIGNMENT_BYTES) {
    // hot
    if (!GoTable.isAt(view, at)) continue;
    tries++;
    try {
      return { table: GoTable.read(new ByteView(view.bytes.subarray(at), view.littleEndian), file), at };
    } catch (error) {
      if (!(error instanceof PerfconvError)) throw error;
    }
  }
  return undefined;
}

/** Only the first section of each name. */
function tableSections(elf: ElfFile): readonly ElfSection[] {
  const isUsable = (section: ElfSection | undefined): section is ElfSection =>
    section !== undefined && section.type !== SHT_NOBITS && section.sizeBytes <= MAX_TABLE_SIZE_BYTES;
  const own = SECTIONS.map((name) => elf.section(name)).filter(isUsable);
  if (own.length > 0 || elf.section(GO_SECTION) === undefined) return own;
  return [elf.section(MIXED_SECTION)].filter(isUsable);
}

/**
 * The address that functions count from. If the runtime's data was not found, it is in the header (before Go 1.26), or it is the start of
 * `.text` if that has nothing but Go's functions: other linkers also put C's start code there.
 */
function textStartOf(elf: ElfFile, table: GoTable, moduleData: ModuleData | undefined): number | undefined {
  if (moduleData !== undefined) return moduleData.textStart;
  if (table.textStart > 0) return table.textStart;
  const text = elf.section('.text');
  const last = table.startOf(table.functionCount);
  return text !== undefined && last <= text.sizeBytes && last > text.sizeBytes - ALIGNMENT_BYTES * 8 ? text.addr : undefined;
}
