import type { ByteView } from '../base/byte-view.ts';
import { SHF_EXECINSTR } from '../elf/elf-constants.ts';
import type { ElfFile } from '../elf/elf-file.ts';
import { readMapped } from '../elf/mapped-bytes.ts';
import type { GoTable } from './go-table.ts';
import type { ModuleData } from './module-data.ts';

/** More is not read, all tries together: the largest programs have some ten megabytes, and a word or two before the right one. */
const MAX_SIZE_BYTES = 512 << 20;
/** What a call has, in bytes. Source: Go 1.20 and later, runtime/symtabinl.go, `inlinedCall`. */
const CALL = { name: 4, parent: 8, startLine: 12, sizeBytes: 16 } as const;
/** Functions whose calls must make sense for the place to be the right one. */
const TRIED_FUNCTIONS = 64;
const MAX_START_LINE = 1 << 24;

/** A function that was inlined into another. */
export interface InlinedCall {
  /** Where its name is in the table's bytes. */
  readonly nameAt: number;
  /** The distance from the start of the outermost function to an instruction at the place of the call in the source. */
  readonly parent: number;
  /** 1-based; 0 when unknown. */
  readonly startLine: number;
}

/** The inlined calls of all functions, which are not in the table itself: it has their offsets from a place that the runtime knows. */
export class InlinedCalls {
  readonly #view: ByteView;
  readonly #table: GoTable;

  private constructor(view: ByteView, table: GoTable) {
    this.#view = view;
    this.#table = table;
  }

  /**
   * Tries the words of the runtime's data, since releases have that place in different ones.
   * @returns undefined where none is the place, or nothing was inlined
   */
  static async find(elf: ElfFile, table: GoTable, { words }: ModuleData): Promise<InlinedCalls | undefined> {
    const tried = triedFunctions(table);
    if (tried.length === 0) return undefined;
    let readBytes = 0;
    for (const addr of new Set(words)) {
      const section = elf.sections.find((one) => one.addr > 0 && addr >= one.addr && addr < one.addr + one.sizeBytes);
      if (section === undefined || (section.flags & SHF_EXECINSTR) !== 0) continue;
      const bytes = await readMapped(elf, addr, section.addr + section.sizeBytes - addr, MAX_SIZE_BYTES - readBytes);
      readBytes += bytes?.view.length ?? 0;
      const calls = bytes && new InlinedCalls(bytes.view, table);
      if (calls !== undefined && tried.every(({ tree, sizeBytes }) => calls.#makesSense(tree, sizeBytes))) return calls;
    }
    return undefined;
  }

  /** @param tree see {@link FunctionPositions.inlineTree}, @returns undefined where there is none of that index */
  at(tree: number, index: number): InlinedCall | undefined {
    const at = tree + index * CALL.sizeBytes;
    if (at < 0 || at + CALL.sizeBytes > this.#view.length) return undefined;
    return {
      nameAt: this.#table.namesAt + this.#view.u32(at + CALL.name),
      parent: this.#view.u32(at + CALL.parent),
      startLine: this.#view.u32(at + CALL.startLine),
    };
  }

  /** Whether the first call of a function may be one: its name begins where another one ends. */
  #makesSense(tree: number, sizeBytes: number): boolean {
    const call = this.at(tree, 0);
    if (call === undefined || this.#view.bytes[tree + 1] !== 0 || this.#view.bytes[tree + 2] !== 0 || this.#view.bytes[tree + 3] !== 0) return false;
    const { bytes } = this.#table.view;
    const isName = call.nameAt < bytes.length && bytes[call.nameAt] !== 0 && (call.nameAt === this.#table.namesAt || bytes[call.nameAt - 1] === 0);
    return isName && call.parent < sizeBytes && call.startLine > 0 && call.startLine < MAX_START_LINE;
  }
}

/** The first functions that have inlined calls. */
function triedFunctions(table: GoTable): { tree: number; sizeBytes: number }[] {
  const tried: { tree: number; sizeBytes: number }[] = [];
  for (let index = 0; index < table.functionCount && tried.length < TRIED_FUNCTIONS; index++) {
    const tree = table.positionsOf(index).inlineTree;
    if (tree >= 0) tried.push({ tree, sizeBytes: table.startOf(index + 1) - table.startOf(index) });
  }
  return tried;
}
