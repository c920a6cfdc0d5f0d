import type { FrameView } from '../../frames/frame.ts';
import { signalTrampolines } from '../../machines/signal-trampolines.ts';
import type { CodeBytes } from '../../memory/code-bytes.ts';
import type { ProcessMemory } from '../../memory/process-memory.ts';
import type { UnwindModule } from '../../modules/unwind-module.ts';
import { RuleFlag, RuleWord } from '../../rules/unwind-rules.ts';
import { type CallKind, CallSites } from './call-sites.ts';

/** Few functions are longer: an address in a function is closer to its start. */
export const MAX_FUNCTION_BYTES = 1 << 16;
/**
 * How likely a word is the return address of a frame, see {@link ReturnAddresses.likelihood}: it does not follow a call; the code there is not at hand; it
 * follows a call; it follows a direct call of the frame's function.
 */
export const NO_CALL = 0;
const MAY_BE_CALL = 1;
export const IS_CALL = 2;
export const IS_OWN_CALL = 3;
/** What may be before an address, apart from direct calls. */
const CALL_KINDS: readonly (CallKind | 'unmapped')[] = ['call', 'none', 'unknown', 'unmapped'];

/** Tells return addresses in a process from other words. What is before an address in a file is looked at only once. */
export class ReturnAddresses {
  /** After a direct call was found: the address that it calls. */
  target = 0;
  /** Whether the last address that was looked at is in memory that was mapped as data: it may still be code of a JIT. */
  isInData = false;
  /** Whether the last place that {@link likelihood} looked at has the return address of a direct call of a function other than the frame's. */
  isOther = false;
  readonly #code: CodeBytes;
  readonly #calls: CallSites;
  readonly #frame: FrameView;
  readonly #memory: ProcessMemory;

  constructor(frame: FrameView, memory: ProcessMemory, code: CodeBytes) {
    this.#frame = frame;
    this.#memory = memory;
    this.#code = code;
    this.#calls = new CallSites(code);
  }

  /**
   * How much the word at a place looks like the return address of the frame: {@link NO_CALL}, {@link MAY_BE_CALL}, {@link IS_CALL}, or {@link IS_OWN_CALL} and
   * above: the nearer before the frame's address the called function begins, the higher.
   */
  likelihood(at: number): number {
    const { stack } = this.#memory;
    this.isOther = false;
    if (!stack.read(at)) return NO_CALL;
    switch (this.callBefore(stack.value)) {
      case 'direct': {
        const distance = this.#frame.pc - this.target;
        this.isOther = distance < 0 || distance >= MAX_FUNCTION_BYTES;
        return this.isOther ? IS_CALL : IS_OWN_CALL + 1 - distance / MAX_FUNCTION_BYTES;
      }
      case 'call':
        return IS_CALL;
      case 'unknown':
        return MAY_BE_CALL;
      default:
        return NO_CALL;
    }
  }

  /**
   * Whether a return address leads on: to after a call, as far as that is known, or to 0, beneath the outermost frame. What is mapped as data
   * ({@link isInData}) may be code.
   */
  leadOn(address: number): boolean {
    this.isInData = false;
    const call = address === 0 ? 'unknown' : this.callBefore(address);
    return call !== 'none' && call !== 'unmapped';
  }

  /** Whether an address is known to follow a call. */
  followsCall(address: number): boolean {
    const call = this.callBefore(address);
    return call === 'direct' || call === 'call';
  }

  /** Whether rules tell that a function begins at an address. */
  isFunction(address: number): boolean {
    const module = this.#code.moduleAt(address);
    const svma = address - this.#memory.space.bias;
    return module?.functionStart(svma) === svma;
  }

  /** What is before an address: `unmapped` if there is no code. */
  callBefore(address: number): CallKind | 'unmapped' {
    const { space, stack } = this.#memory;
    this.isInData = false;
    if (address <= 0 || (address >= stack.start && address < stack.end)) return 'unmapped';
    if (this.#code.find(address - 1) !== 'found') return 'unmapped';
    const { module, bias } = space;
    if (module === undefined) {
      if (this.#memory.isInMapOfStack(address - 1)) return 'unmapped';
      this.isInData = space.mayBeData === true;
      return 'unknown';
    }
    const fact = module.code.calls.get(address - bias) ?? this.#lookBefore(address, bias, module);
    if (fact >= 0) this.target = fact + bias;
    return fact >= 0 ? 'direct' : CALL_KINDS[-1 - fact];
  }

  /** What is before an address as a fact to keep: the svma that is called, or −1 minus the place in {@link CALL_KINDS}. */
  #lookBefore(address: number, bias: number, module: UnwindModule): number {
    const wasPending = this.#code.isPending;
    this.#code.isPending = false;
    let kind: CallKind | 'unmapped' = 'unmapped';
    if (module.memory.isExecutable(address - 1 - bias)) {
      kind = this.#calls.before(address, this.#frame.machine.name, (target) => module.memory.isExecutable(target - bias));
      // The kernel makes a trampoline the return address of a signal handler.
      if (kind === 'none' && this.#isTrampoline(address, module)) kind = 'call';
      // The interpreter of Java's virtual machine pushes a return address and jumps (observed, 17).
      if (kind === 'none' && module.memory.isOneFunction) kind = 'unknown';
    }
    const target = this.#calls.target - bias;
    const fact = kind === 'direct' && target >= 0 ? target : -1 - CALL_KINDS.indexOf(kind === 'direct' ? 'call' : kind);
    if (!this.#code.isPending) module.code.calls.set(address - bias, fact);
    this.#code.isPending ||= wasPending;
    return fact;
  }

  #isTrampoline(address: number, module: UnwindModule): boolean {
    const { machine } = this.#frame;
    const rule = module.ruleAt(address - 1 - this.#memory.space.bias);
    if (rule >= 0 && (module.rules.data[rule + RuleWord.flags] & RuleFlag.signalFrame) !== 0) return true;
    return signalTrampolines(machine.name).some(({ code }) => this.#code.is(address, code));
  }
}
