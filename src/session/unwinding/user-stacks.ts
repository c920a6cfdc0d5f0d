import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import type { JitDump } from '../../jitdump/jitdump.ts';
import { PERF_RECORD_MISC_USER, PERF_SAMPLE_REGS_ABI_64 } from '../../perfdata/abi/constants.ts';
import type { Features } from '../../perfdata/features/features.ts';
import type { UnwindInput } from '../../unwind/frames/unwind-input.ts';
import type { UnwoundStack } from '../../unwind/frames/unwound-stack.ts';
import type { UnwindMachine } from '../../unwind/machines/unwind-machine.ts';
import type { UnwindEnd, Unwinder } from '../../unwind/unwinder.ts';
import type { CallchainTable } from '../callchains/callchains.ts';
import type { FrameResolver } from '../callchains/frames.ts';
import { type LastStack, LastStacks } from '../callchains/last-stacks.ts';
import type { SessionEvent } from '../events/session-event.ts';
import { SampledRegisters, stackMachine } from '../events/stack-machine.ts';
import type { AddressSpace } from '../processes/address-space.ts';
import { type DsoTable, UPROBES_NAME } from '../processes/dsos.ts';
import type { SessionProcess } from '../processes/tasks.ts';
import { DROPPED, OWN_ADDRESS, type RecordRow } from '../rows/record-row.ts';
import type { StackDumps } from '../rows/stack-dumps.ts';
import { FoundFiles } from './found-files.ts';
import { LeafCallers } from './leaf-callers.ts';
import { MappedCode } from './mapped-code.ts';
import { PowerpcChains } from './powerpc-chains.ts';
import { AllProcessRules } from './process-rules.ts';
import { UnwindEnds } from './unwind-ends.ts';
import type { UnwindFiles } from './unwind-files.ts';

/**
 * What becomes of unwound stacks that do not reach the start of their thread, since their outermost frame would look like that start.
 *
 * - `mark`: they get the root `[truncated]`
 * - `keep`: they stay as they are
 * - `drop`: their samples are left out
 */
export type TruncatedStacks = 'mark' | 'keep' | 'drop';

/** How user stacks are unwound. */
export interface UserStackOptions {
  readonly truncated: TruncatedStacks;
  /** Maximum number of frames in a stack. */
  readonly maxStack: number;
  /**
   * Do as perf 6.1 does: return addresses are those of the calls' last bytes, a recorded callchain is never preferred, and a stack that is longer than its dump
   * ends in address −1 (not on arm64 and PowerPC), unless it is to be marked.
   */
  readonly compatPerf: boolean;
}

/** What unwinding works with. */
export interface UserStackParts {
  readonly dumps: StackDumps;
  readonly chains: CallchainTable;
  readonly frames: FrameResolver;
  readonly dsos: DsoTable;
  /** By DSO; they are added as they are found. */
  readonly jitDumps: ReadonlyMap<number, JitDump>;
  readonly features: Features;
  /** Reads rules; undefined if there are none: then stacks are unwound by frame pointers. */
  readonly files: UnwindFiles | undefined;
}

/** Where perf 6.1 ends stacks that are cut off with their last frame (observed). */
const HAS_NO_END_IN_PERF: ReadonlySet<UnwindMachine | undefined> = new Set(['aarch64', 'ppc64']);
/** How the `cpuid` of Intel's processors begins. With precise events, their registers are those after the sampled instruction; AMD's are those of the interrupt. */
const INTEL = 'GenuineIntel';
/** A file is opened once, and read from now and then: a stack that waits more often than this would wait forever. */
const MAX_WAITS = 4096;

/** The registers and the stack of a sample, as an unwinder wants them: reused for each. */
type Input = { -readonly [Key in keyof UnwindInput]: UnwindInput[Key] };

/**
 * Unwinds the user stacks of samples, each when its turn comes. The files that hold the code are read when the first stack leads there; until then, the sample
 * waits, and with it all that come after it.
 */
export class UserStacks {
  readonly ends = new UnwindEnds();
  readonly #dumps: StackDumps;
  readonly #chains: CallchainTable;
  readonly #frames: FrameResolver;
  readonly #leafCallers: LeafCallers;
  readonly #powerpcChains: PowerpcChains;
  readonly #lastStacks = new LastStacks();
  readonly #dsos: DsoTable;
  readonly #features: Features;
  readonly #files: UnwindFiles | undefined;
  readonly #options: UserStackOptions;
  readonly #diagnostics: Diagnostics;
  readonly #code: MappedCode;
  /** Undefined where a process is unwound even if none of its files is there. */
  readonly #foundFiles: FoundFiles | undefined;
  /** Undefined where rules are taken as they are found. */
  readonly #processRules: AllProcessRules | undefined;
  /** Loaded when the first stack needs it. */
  #unwinder: Unwinder | undefined;
  #input: Input | undefined;
  readonly #registers = new SampledRegisters();
  #waits = 0;
  /** The arch for which {@link #mendsChains} holds. */
  #askedArch: string | undefined;
  #mendsChains = false;

  constructor({ dumps, chains, frames, dsos, jitDumps, features, files }: UserStackParts, options: UserStackOptions, diagnostics: Diagnostics) {
    this.#dumps = dumps;
    this.#chains = chains;
    this.#frames = frames;
    this.#leafCallers = new LeafCallers(chains, options.compatPerf);
    this.#powerpcChains = new PowerpcChains(chains);
    this.#dsos = dsos;
    this.#features = features;
    this.#files = files;
    this.#options = options;
    this.#diagnostics = diagnostics;
    this.#code = new MappedCode(dsos.dsos, jitDumps, options.compatPerf);
    this.#foundFiles = options.compatPerf ? new FoundFiles(dsos.dsos, features, files) : undefined;
    this.#processRules = options.compatPerf ? new AllProcessRules() : undefined;
  }

  /** Bytes of the stacks that the next ones are compared with. */
  get heldBytes(): number {
    return this.#lastStacks.heldBytes;
  }

  /** Forgets the recorded stack of a sample that was unwound, or that nobody wants. */
  drop(row: RecordRow): void {
    if (row.stackDump >= 0) this.#dumps.free(row.stackDump);
    row.stackDump = -1;
    if (row.chain === OWN_ADDRESS && row.unwound < 0) row.chain = this.#chains.internSingle(row.ipLo, row.ipHi, PERF_RECORD_MISC_USER);
  }

  /**
   * Gives a sample its whole stack in place of what its chain says, or adds to the chain what is missing there.
   * @returns false where something has to be read first: await {@link settle}, then call it again
   */
  unwind(row: RecordRow, event: SessionEvent, process: SessionProcess): boolean {
    const unwinder = this.#unwinder;
    if (unwinder === undefined) return false;
    // The kernel writes zeros in place of what cannot be one of its callers (observed, 6.1).
    if (this.mendsChains && !this.#options.compatPerf && row.chain >= 0) row.chain = this.#chains.internWithoutZeros(row.chain);
    if (row.stackDump < 0) return this.#mendChain(row, process.space, unwinder);
    return event.hasLinkRegisters ? this.#addLeafCaller(row, event, process.space, unwinder) : this.#unwindDump(row, event, process, unwinder);
  }

  /** Whether callchains have entries that are no callers, so that samples without registers have to be passed to {@link unwind}, too. */
  get mendsChains(): boolean {
    const { arch } = this.#features;
    if (arch !== this.#askedArch) {
      this.#askedArch = arch;
      this.#mendsChains = stackMachine(arch ?? '', PERF_SAMPLE_REGS_ABI_64, 0n) === 'ppc64';
    }
    return this.#mendsChains;
  }

  /** Removes from a recorded callchain what is no caller. perf only does so where the sampled code is user code (observed, 6.1). */
  #mendChain(row: RecordRow, space: AddressSpace, unwinder: Unwinder): boolean {
    if (row.chain < 0 || (this.#options.compatPerf && !this.#chains.startsInUserCode(row.chain))) return true;
    this.#code.enter(space, 'ppc64');
    const mended = this.#powerpcChains.withoutFalseCaller(row.chain, unwinder, this.#code);
    if (this.#hasToWait(mended === undefined)) return false;
    row.chain = mended ?? row.chain;
    return true;
  }

  #addLeafCaller(row: RecordRow, { attr }: SessionEvent, space: AddressSpace, unwinder: Unwinder): boolean {
    const dumps = this.#dumps;
    const { stackDump, chain } = row;
    const { machine, maskLo } = this.#registers.of(attr, dumps.abi(stackDump), this.#features.arch ?? '');
    if (machine === 'aarch64' && chain >= 0) {
      this.#code.enter(space, machine);
      const whole = this.#leafCallers.withCaller(chain, dumps.viewOf(stackDump), dumps.regsOffset(stackDump), maskLo, unwinder, this.#code);
      if (this.#hasToWait(whole === undefined)) return false;
      row.chain = whole ?? chain;
    }
    this.drop(row);
    return true;
  }

  /** Whether a sample waits for what has to be read first. */
  #hasToWait(isPending: boolean): boolean {
    this.#waits = isPending && this.#waits + 1 < MAX_WAITS ? this.#waits + 1 : 0;
    return this.#waits > 0;
  }

  #unwindDump(row: RecordRow, event: SessionEvent, process: SessionProcess, unwinder: Unwinder): boolean {
    const isUnwound = this.#foundFiles === undefined || this.#foundFiles.areIn(process.space);
    if (this.#hasToWait(isUnwound === undefined)) return false;
    const input = isUnwound === true ? this.#fill(row.stackDump, event) : undefined;
    if (input === undefined) this.ends.notUnwound++;
    else if (!this.#unwindInput(input, row, event, process, unwinder)) return false;
    this.drop(row);
    return true;
  }

  #unwindInput(input: UnwindInput, row: RecordRow, event: SessionEvent, process: SessionProcess, unwinder: Unwinder): boolean {
    const { space } = process;
    const last = this.#lastStacks.of(row.tid);
    const isSameSpace = last.generation === space.generation;
    if (!isSameSpace) last.stackCount = 0;
    const isByKeptRules = this.#unwindAfter(isSameSpace ? last.unwound : undefined, input, process, unwinder);
    if (this.#hasToWait(isByKeptRules === undefined)) return false;
    const fate = this.#fateOf(row, event, unwinder, space);
    if (fate === 'unwound') row.unwound = this.#stackOf(row.chain, unwinder, space, last);
    else last.stackCount = 0;
    if (fate === 'dropped') row.unwound = DROPPED;
    last.unwound = unwinder.exchangeStack(last.unwound);
    // By the rules that are found, the next stack may have other callers of a frame that both have.
    last.generation = isByKeptRules === true ? -1 : space.generation;
    return true;
  }

  /**
   * Unwinds a stack, and again if one of its frames has another rule among those that libunwind has kept of the process.
   * @param previous the thread's last stack, if it has the same address space
   * @returns whether it was unwound again for that; undefined where something has to be read first
   */
  #unwindAfter(previous: UnwoundStack | undefined, input: UnwindInput, process: SessionProcess, unwinder: Unwinder): boolean | undefined {
    const code = this.#code;
    code.enter(process.space, input.machine);
    const kept = this.#processRules?.of(process);
    const isKept = kept?.differFrom(code) === true;
    if (isKept) code.keptRules = kept;
    if (unwinder.unwindAfter(previous, input, code) === 'pending') return undefined;
    if (isKept || kept?.add(unwinder.stack, code) !== true) return false;
    code.keptRules = kept;
    return unwinder.unwindAfter(previous, input, code) === 'pending' ? undefined : true;
  }

  /** Reads what {@link unwind} waits for. */
  async settle(): Promise<void> {
    const unwinder = this.#unwinder;
    if (unwinder === undefined) {
      const { Unwinder } = await import('../../unwind/unwinder.ts');
      const { maxStack, compatPerf } = this.#options;
      this.#unwinder = new Unwinder({ ...(Number.isFinite(maxStack) && { maxFrames: maxStack }), followsLibunwind: compatPerf });
    } else if (this.#foundFiles?.isPending === true) {
      await this.#foundFiles.settle();
    } else if (unwinder.endModule !== undefined) {
      const failure = await unwinder.endModule.readWanted();
      if (failure !== undefined) this.#diagnostics.add('unwind-rules-damaged', 'warning', `${failure.message}: stacks that lead there may end too early`);
    } else {
      const { endFile } = unwinder;
      const dso = this.#dsos.dsos[endFile];
      if (dso !== undefined) this.#code.setFile(endFile, await this.#files?.load(dso, this.#features));
    }
  }

  /** @returns undefined if nothing is to be unwound, as for an unknown machine */
  #fill(place: number, { attr }: SessionEvent): Input | undefined {
    const dumps = this.#dumps;
    // Registers say where the thread is, even without a stack, as during an exec; perf 6.1 does not use them then (observed).
    if (this.#options.compatPerf && dumps.stackSizeBytes(place) === 0) return undefined;
    const { machine, maskLo, maskHi } = this.#registers.of(attr, dumps.abi(place), this.#features.arch ?? '');
    if (machine === undefined) return undefined;
    this.#input ??= { machine, view: dumps.viewOf(place), regsOffset: 0, regsMaskLo: 0, regsMaskHi: 0, stackOffset: 0, stackSizeBytes: 0, isRetired: false };
    const input = this.#input;
    input.machine = machine;
    input.view = dumps.viewOf(place);
    input.regsOffset = dumps.regsOffset(place);
    input.regsMaskLo = maskLo;
    input.regsMaskHi = maskHi;
    input.stackOffset = dumps.stackOffset(place);
    // perf 6.1 does not read the dump's last word (observed).
    input.stackSizeBytes = Math.max(0, dumps.stackSizeBytes(place) - (this.#options.compatPerf ? 1 : 0));
    input.isRetired = dumps.isExact(place) && this.#features.cpuid?.startsWith(INTEL) === true;
    return input;
  }

  #countEnd({ end, endFile, endStackOffset }: Unwinder, stackDump: number, dumpBytes: number): void {
    const isEmpty = this.#dumps.stackSizeBytes(stackDump) === 0;
    this.ends.add(end, endFile, dumpBytes, this.#dumps.isWhole(stackDump) ? endStackOffset : undefined, isEmpty);
  }

  /** Decides what becomes of a stack, and counts how it ended. A recorded user part is kept instead if it shows more. */
  #fateOf({ chain, stackDump }: RecordRow, { attr }: SessionEvent, unwinder: Unwinder, space: AddressSpace): 'unwound' | 'recorded' | 'dropped' {
    const { stack, end } = unwinder;
    const { truncated, compatPerf } = this.#options;
    if (stack.count === 0) {
      this.ends.notUnwound++;
      return 'recorded';
    }
    if (!compatPerf && end !== 'complete' && chain >= 0 && this.#chains.userDepth(chain) > stack.count) {
      this.ends.betterRecorded++;
      return 'recorded';
    }
    if (this.#endsAtProbe(unwinder, space)) this.ends.probed++;
    else this.#countEnd(unwinder, stackDump, attr.sampleStackUser);
    return truncated === 'drop' && this.#isCut(end, stack) ? 'dropped' : 'unwound';
  }

  /** Whether the stack ends at the return address, or in the instruction, that the kernel has put in place of one for a user probe. */
  #endsAtProbe({ end, endAddress }: Unwinder, space: AddressSpace): boolean {
    if (end !== 'unmapped' && end !== 'no-module') return false;
    for (let maps: AddressSpace | undefined = space; maps !== undefined; maps = maps.fallback) {
      const at = maps.find(endAddress);
      if (at >= 0) return this.#dsos.dsos[maps.dsoAt(at)].name === UPROBES_NAME;
    }
    return false;
  }

  /** Whether the stack goes on. If the user asked for no more frames, nobody looks for a root. */
  #isCut(end: UnwindEnd, { count }: UnwoundStack): boolean {
    return end !== 'complete' && !(end === 'limit' && count >= this.#options.maxStack);
  }

  /** The stack of what was unwound. @param last what was unwound for the thread before */
  #stackOf(chain: number, unwinder: Unwinder, space: AddressSpace, last: LastStack): number {
    const { stack, end, endAddress } = unwinder;
    const { truncated, compatPerf } = this.#options;
    const isPerfMarked = compatPerf && end === 'truncated' && !HAS_NO_END_IN_PERF.has(this.#code.machine);
    const isMarked = this.#isCut(end, stack) && (truncated === 'mark' || isPerfMarked);
    // perf 6.1 shows where it looked in vain, except for the byte before address 1 (observed).
    if (compatPerf && end === 'unmapped' && endAddress > 1) unwinder.addEnd();
    return this.#frames.unwoundStackOf(unwinder, isMarked, chain, space, last);
  }
}
