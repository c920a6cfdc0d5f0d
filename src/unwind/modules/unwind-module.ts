import { ByteView } from '../../base/bytes/byte-view.ts';
import { MAX_JIT_FUNCTION_BYTES } from '../../base/jit-limits.ts';
import { checkOptions, demand, flag, type OptionChecks } from '../../base/problems/check-options.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { readRange } from '../../base/streams/byte-source.ts';
import { SHF_EXECINSTR, SHT_NOBITS } from '../../elf/elf-constants.ts';
import { ElfFile } from '../../elf/elf-file.ts';
import { FrameSection } from '../../elf/frame-tables/frame-section.ts';
import type { FrameTable } from '../../elf/frame-tables/frame-table.ts';
import type { GoFrames } from '../../gopclntab/go-frames.ts';
import { MACHINE_REGISTERS, type MachineRegisters, machineRegisters, type UnwindMachine, unwindMachineOf } from '../machines/unwind-machine.ts';
import { RegisterRule } from '../rules/cfa-row.ts';
import { CfaRows } from '../rules/cfa-rows.ts';
import type { ExidxTable } from '../rules/exidx-table.ts';
import { FrameIndex } from '../rules/frame-index.ts';
import { RuleAddresses } from '../rules/rule-addresses.ts';
import { RuleRanges } from '../rules/rule-ranges.ts';
import { BAD_RULE, NO_RULE, RuleFlag, UnwindRules } from '../rules/unwind-rules.ts';
import { NO_TABLES, readUnwindTables, type UnwindModuleOptions, type UnwindTables } from '../rules/unwind-tables.ts';
import { CodeEffort } from './code-effort.ts';
import { CodeFindings } from './code-findings.ts';
import { type FunctionCode, ModuleMemory } from './module-memory.ts';

/** `.eh_frame` in memory, without a file: what JITs provide for their code (`JIT_CODE_UNWINDING_INFO`). */
export interface EhFrameBytes {
  readonly machine: UnwindMachine;
  readonly view: ByteView;
  /** The svma of the first byte. */
  readonly addr: number;
}

/**
 * The module of a file for a machine whose stacks are unwound.
 * @internal
 */
export type MachineModule = UnwindModule & { readonly registers: MachineRegisters };

/** Most call frame instructions that are followed for all addresses of one file: a hundred for each of ten million. A file that needs more was crafted to. */
const MAX_STEPS = 2 ** 30;

/**
 * How frames in the code of one file are unwound: by `.eh_frame` (searched by `.eh_frame_hdr`'s table where that is right), `.debug_frame`, `.ARM.exidx` or the
 * table of Go's runtime. Addresses of code are the file's own, as objdump prints them: `svma`, for section virtual memory address. Look-ups are kept, so make
 * one module for each file, however often it is mapped.
 */
export class UnwindModule {
  /**
   * undefined for a machine whose stacks are not unwound.
   * @internal
   */
  readonly registers: MachineRegisters | undefined;
  /** @internal */
  readonly rules: UnwindRules;
  /** @internal */
  readonly memory: ModuleMemory;
  /**
   * The file's `.eh_frame_hdr`.
   * @internal
   */
  readonly frameTable: FrameTable | undefined;
  /** @internal */
  readonly exidx: ExidxTable | undefined;
  readonly #goFrames: GoFrames | undefined;
  /**
   * What was found out about its code where rules do not tell.
   * @internal
   */
  readonly code: CodeFindings;
  /** How many addresses were looked up whose rule is damaged, each counted once. */
  damagedRules = 0;
  readonly #frames: readonly FrameIndex[];
  /** For each of {@link #frames}. */
  readonly #ranges: readonly RuleRanges[];
  readonly #addresses = new RuleAddresses();
  readonly #rows: CfaRows;
  readonly #allRows: CfaRows;

  /** @internal */
  constructor(machine: UnwindMachine | undefined, tables: UnwindTables, memory: ModuleMemory, effort = new CodeEffort()) {
    this.registers = machine && MACHINE_REGISTERS[machine];
    this.rules = new UnwindRules(this.registers ?? MACHINE_REGISTERS.x86_64);
    this.memory = memory;
    this.code = new CodeFindings(effort);
    this.#frames = tables.frames;
    this.frameTable = tables.frameTable;
    this.#ranges = tables.frames.map(() => new RuleRanges());
    this.exidx = tables.exidx;
    this.#goFrames = tables.goFrames;
    this.#rows = new CfaRows(this.registers?.count ?? 0);
    this.#allRows = new CfaRows(this.registers?.count ?? 0);
  }

  /** The module of code whose only rules are an `.eh_frame`. @throws PerfconvError `usage` for a machine whose stacks are not unwound */
  static ofEhFrame({ machine, view, addr }: EhFrameBytes): UnwindModule {
    const { addressSize } = machineRegisters(machine);
    const section = new FrameSection({ view, addr, addressSize, textAddr: 0, dataAddr: 0, isDebugFrame: false, hasCodeAtZero: true });
    return new UnwindModule(machine, { ...NO_TABLES, frames: [new FrameIndex(section)] }, new ModuleMemory(undefined, view.littleEndian));
  }

  /**
   * The module of one function without rules, which a JIT made.
   * @param effort what was spent on the code of that JIT
   * @internal
   */
  static ofFunction(machine: UnwindMachine, code: FunctionCode, effort: CodeEffort): UnwindModule {
    return new UnwindModule(machine, NO_TABLES, new ModuleMemory(undefined, code.view.littleEndian, code), effort);
  }

  /**
   * Whether the file is for a machine.
   * @internal
   */
  isFor(machine: MachineRegisters): this is MachineModule {
    return this.registers === machine;
  }

  /**
   * Whether there is a Go function at an svma, as far as the table of Go's runtime is used.
   * @internal
   */
  isGo(svma: number): boolean {
    return this.#goFrames?.hasFunctionAt(svma) === true;
  }

  /**
   * Whether the function at an svma was called by a function of Go's runtime that leaves its stack later on.
   * @internal
   */
  isBeforeStackSwitch(svma: number): boolean {
    return this.#goFrames?.isBeforeLeaving(svma) === true;
  }

  /**
   * The index of FDEs that is searched first, if there is one.
   * @internal
   */
  get firstFrames(): FrameIndex | undefined {
    return this.#frames[0];
  }

  /** Whether the file has any rules. */
  get hasRules(): boolean {
    return this.#frames.length > 0 || this.exidx !== undefined || this.#goFrames !== undefined;
  }

  /** Whether unwinding ended with `pending` because bytes of the file were wanted: {@link readWanted} reads them. */
  get wantsBytes(): boolean {
    return this.memory.wantsBytes;
  }

  /**
   * Reads what unwinding needed of the file (constants that expressions refer to, code of functions without rules). What cannot be read counts as absent from
   * then on.
   * @returns why something could not be read; undefined if all was
   */
  async readWanted(): Promise<PerfconvError | undefined> {
    return this.memory.readWanted();
  }

  /**
   * The number of the rule in {@link rules} for code at an svma; NO_RULE or BAD_RULE where there is none.
   * @internal
   */
  ruleAt(svma: number): number {
    // hot
    return svma >= 0 ? (this.#addresses.get(svma) ?? this.#look(svma)) : NO_RULE;
  }

  /**
   * The svma at which the FDE of an svma begins; undefined if there is none.
   * @param maxSizeBytes larger ones do not count
   * @internal
   */
  functionStart(svma: number, maxSizeBytes = Number.POSITIVE_INFINITY): number | undefined {
    const section = this.#frames.find((index) => index.find(svma))?.section;
    return section !== undefined && section.end - section.start <= maxSizeBytes ? section.start : undefined;
  }

  /**
   * To be called before a rule is added. Rarely, it forgets all rules.
   * @internal
   */
  makeRoom(): void {
    if (!this.rules.isFull && !this.#addresses.isFull) return;
    this.rules.clear();
    this.#addresses.clear();
    for (const ranges of this.#ranges) ranges.clear();
    this.code.forgetRules();
  }

  #look(svma: number): number {
    this.makeRoom();
    const rule = this.#lookFor(svma);
    if (rule === BAD_RULE) this.damagedRules++;
    this.#addresses.add(svma, rule);
    return rule;
  }

  #lookFor(svma: number): number {
    const ofRuntime = this.#lookInGoRuntime(svma);
    if (ofRuntime !== undefined) return ofRuntime;
    let rule = NO_RULE;
    for (let i = 0; i < this.#frames.length; i++) {
      const index = this.#frames[i];
      const ranges = this.#ranges[i];
      const known = ranges.find(index.entryOf(svma), svma);
      if (known !== undefined) return known;
      if (this.#rows.steps + this.#allRows.steps > MAX_STEPS) return BAD_RULE;
      if (!index.find(svma)) continue;
      rule = this.#readRule(index, ranges, svma);
      if (rule !== BAD_RULE) return rule;
    }
    const entry = this.exidx?.find(svma) ?? NO_RULE;
    if (entry >= 0) return this.rules.exidxRule(entry);
    const frameSize = rule === NO_RULE && this.#goFrames !== undefined ? this.#goFrames.sizeAt(svma) : -1;
    return frameSize >= 0 ? this.rules.goRule(frameSize) : rule;
  }

  /**
   * The rule of an svma in the functions of Go's runtime that switch stacks, begin one or are put on one: other tables treat them as ordinary functions. Undefined
   * for others.
   */
  #lookInGoRuntime(svma: number): number | undefined {
    const frames = this.#goFrames;
    switch (frames?.kindAt(svma)) {
      case 'chained':
        return this.registers?.name === 'i386' ? undefined : this.rules.goChainRule(frames.sizeAt(svma));
      case 'leaving':
        return this.rules.goRule(Math.max(0, frames.sizeAt(svma)), RuleFlag.leavesStack);
      case 'interrupting':
        return this.rules.goRule(Math.max(0, frames.sizeAt(svma)), RuleFlag.interrupts);
      case 'keeping':
        return NO_RULE;
      case 'first':
        return this.rules.goRule(0, RuleFlag.outermost);
      default:
        return undefined;
    }
  }

  /** The rule of an svma, by the FDE that was read last. */
  #readRule(index: FrameIndex, ranges: RuleRanges, svma: number): number {
    const rows = this.#rows;
    const { section } = index;
    rows.begin(section);
    if (!rows.find(svma)) return BAD_RULE;
    this.#markPopped(section);
    const rule = this.rules.ruleOf(rows, section, svma);
    // The last byte has a rule of its own, which says that it is the last.
    const end = Math.min(rows.end, section.end - 1);
    if (rule !== BAD_RULE && svma < end) ranges.add(index.entryOf(svma), rows.start, end, rule);
    return rule;
  }

  /**
   * Marks registers that have already been popped. Compilers' rules do not say so: by them, such a register is still saved, in memory below the stack pointer,
   * which no dump has. It was popped if another row has it above the stack pointer; otherwise it is saved below all the time (x86-64's red zone). A return
   * address that was popped is not in its register but elsewhere (OCaml's `caml_c_call`): the instruction pointer says where the thread is. On 64-bit PowerPC,
   * functions restore registers only after they have given back their frame, so nothing tells which are still to be restored.
   */
  #markPopped(section: FrameSection): void {
    const rows = this.#rows;
    const { sp = -1, pc = -1, cfaBias = 0 } = this.registers ?? {};
    if (rows.cfaRegister !== sp || cfaBias !== 0 || this.registers === MACHINE_REGISTERS.ppc64) return;
    const { kinds, values, cfaOffset } = rows;
    const isBelow = (register: number): boolean => register !== pc && kinds[register] === RegisterRule.offset && values[register] < -cfaOffset;
    if (!kinds.some((_, register) => isBelow(register))) return;
    const all = this.#allRows;
    all.begin(section);
    while (all.next()) {
      for (let register = 0; register < kinds.length; register++) {
        if (!isBelow(register) || all.kinds[register] !== RegisterRule.offset || all.values[register] !== values[register]) continue;
        if (all.cfaRegister !== sp || values[register] >= -all.cfaOffset) kinds[register] = RegisterRule.popped;
      }
    }
  }
}

const MODULE_CHECKS: OptionChecks<UnwindModuleOptions> = {
  debug: (option, value) => demand(value instanceof ElfFile, option, value, 'an ElfFile'),
  decompressor: (option, value) => demand(value instanceof Object && 'decompress' in value, option, value, 'an object with the function decompress'),
  usesAllTables: flag,
  isOneFunction: flag,
};

/**
 * Reads the rules of a file. Look-ups are synchronous afterwards; what they rarely need besides is read by {@link UnwindModule.readWanted}.
 * @param elf has to stay open as long as the module is used
 * @throws PerfconvError when the file cannot be read; `usage` for anything but an ElfFile, and for unknown options and values. Tables that are damaged are left
 *   out
 */
export async function readUnwindModule(elf: ElfFile, options: UnwindModuleOptions = {}): Promise<UnwindModule> {
  // Not every caller has its types checked by a compiler.
  if (!(elf instanceof ElfFile)) throw new PerfconvError('usage', 'rules are read from an ElfFile');
  checkOptions(options, MODULE_CHECKS);
  const machine = unwindMachineOf(elf);
  const tables = machine === undefined ? NO_TABLES : await readUnwindTables(elf, options);
  const memory = options.isOneFunction ? await memoryOfFunction(elf, machine, tables) : new ModuleMemory(elf, elf.littleEndian);
  return new UnwindModule(machine, tables, memory);
}

/** The code of a file with one function that a JIT made, if it is needed: where there are no rules. That was only tried on x86-64. */
async function memoryOfFunction(elf: ElfFile, machine: UnwindMachine | undefined, { frames }: UnwindTables): Promise<ModuleMemory> {
  const text = elf.sections.find(({ type, flags }) => type !== SHT_NOBITS && (flags & SHF_EXECINSTR) !== 0);
  if (machine !== 'x86_64' || frames.length > 0 || text === undefined || text.sizeBytes > MAX_JIT_FUNCTION_BYTES)
    return new ModuleMemory(undefined, elf.littleEndian);
  const bytes = await readRange(elf.source, text.offset, text.sizeBytes);
  return new ModuleMemory(undefined, elf.littleEndian, { view: new ByteView(bytes, elf.littleEndian), addr: text.addr });
}
