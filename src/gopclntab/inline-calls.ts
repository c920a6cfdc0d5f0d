import type { ByteView } from '../base/bytes/byte-view.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import { SHF_EXECINSTR } from '../elf/elf-constants.ts';
import type { ElfFile, ElfSection } from '../elf/elf-file.ts';
import type { GoFunctions } from './go-functions.ts';
import type { GoTable } from './go-table.ts';
import type { ModuleData } from './module-data.ts';

/** How much is read of all sections that words lead to. The largest programs have some ten megabytes. */
const MAX_SIZE_BYTES = 256 << 20;
/** Where the fields of a call are, in bytes. Source: Go 1.20 and later, runtime/symtabinl.go, `inlinedCall`. */
const CALL = { name: 4, parent: 8, startLine: 12, sizeBytes: 16 } as const;
/** How many functions are tried to find out whether a place is the right one, and the share whose calls must make sense: single ones may be damaged. */
const TRIED_FUNCTIONS = 64;
const FITTING_SHARE = 0.9;
const MAX_START_LINE = 1 << 24;

/** A function that was inlined into another. */
export interface InlinedCall {
  /** Where its name is in the table's bytes. */
  readonly nameAt: number;
  /** The distance from the start of the outermost function to an instruction that has the call's place in the source. */
  readonly parent: number;
  /** 1-based; 0 when unknown. */
  readonly startLine: number;
}

/** The inlined calls of all functions. They are not in the table itself, which has their offsets from a place that the runtime knows. */
export class InlinedCalls {
  readonly #view: ByteView;
  /** Where that place is in {@link #view}. */
  readonly #base: number;
  readonly #table: GoTable;

  private constructor(view: ByteView, base: number, table: GoTable) {
    this.#view = view;
    this.#base = base;
    this.#table = table;
  }

  /**
   * Tries the words of the runtime's data, since different releases have that place in different words.
   * @returns undefined if nothing was inlined
   * @throws PerfconvError `damaged` when none is the place
   */
  static async find(elf: ElfFile, functions: GoFunctions, { words }: ModuleData): Promise<InlinedCalls | undefined> {
    const { table, addr: tableAddr } = functions;
    const tried = triedFunctions(functions);
    if (tried.length === 0) return undefined;
    const views = new Map<ElfSection, ByteView>();
    let readBytes = 0;
    for (const addr of new Set(words)) {
      const section = elf.sections.find((one) => one.addr > 0 && addr >= one.addr && addr < one.addr + one.sizeBytes);
      if (section === undefined || (section.flags & SHF_EXECINSTR) !== 0) continue;
      // From Go 1.26 on, they are after the table, in its section.
      const isInTable = addr >= tableAddr && addr < tableAddr + table.view.length;
      let view = isInTable ? table.view : views.get(section);
      if (view === undefined) {
        readBytes += section.sizeBytes;
        if (readBytes > MAX_SIZE_BYTES) continue;
        view = await elf.readSection(section);
        views.set(section, view);
      }
      const calls = new InlinedCalls(view, addr - (isInTable ? tableAddr : section.addr), table);
      const fitting = tried.filter(({ tree, sizeBytes }) => calls.#makesSense(tree, sizeBytes));
      if (fitting.length >= FITTING_SHARE * tried.length) return calls;
    }
    throw table.damaged('nothing says where inlined calls are');
  }

  /** @param tree see {@link FunctionPositions.inlineTree}, @returns undefined if there is none with that index */
  at(tree: number, index: number): InlinedCall | undefined {
    const at = this.#base + tree + index * CALL.sizeBytes;
    if (at < 0 || at + CALL.sizeBytes > this.#view.length) return undefined;
    return {
      nameAt: this.#table.namesAt + this.#view.u32(at + CALL.name),
      parent: this.#view.u32(at + CALL.parent),
      startLine: this.#view.u32(at + CALL.startLine),
    };
  }

  /** Whether the first call of a function may be one: its name begins where another one ends, and its other fields are possible. */
  #makesSense(tree: number, sizeBytes: number): boolean {
    const call = this.at(tree, 0);
    const padding = this.#base + tree + 1;
    if (call === undefined || this.#view.bytes.subarray(padding, padding + 3).some((byte) => byte !== 0)) return false;
    const { bytes } = this.#table.view;
    const isName = call.nameAt < bytes.length && bytes[call.nameAt] !== 0 && (call.nameAt === this.#table.namesAt || bytes[call.nameAt - 1] === 0);
    return isName && call.parent < sizeBytes && call.startLine > 0 && call.startLine < MAX_START_LINE;
  }
}

/** The first functions that have inlined calls, without those whose records are damaged. */
function triedFunctions(functions: GoFunctions): { tree: number; sizeBytes: number }[] {
  const { table } = functions;
  const tried: { tree: number; sizeBytes: number }[] = [];
  for (let index = 0; index < table.functionCount && tried.length < TRIED_FUNCTIONS; index++) {
    const tree = inlineTreeOf(table, index);
    if (tree >= 0) tried.push({ tree, sizeBytes: functions.sizeOf(index) });
  }
  return tried;
}

function inlineTreeOf(table: GoTable, index: number): number {
  try {
    return table.positionsOf(index).inlineTree;
  } catch (error) {
    if (error instanceof PerfconvError) return -1;
    throw error;
  }
}
