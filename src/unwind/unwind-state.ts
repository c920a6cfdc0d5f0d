import type { CodeMatch, CodeSpace } from './code-space.ts';
import type { ExpressionMemory } from './expressions.ts';
import type { MemoryMatch } from './module-memory.ts';
import { RegisterFile } from './register-file.ts';
import { StackMemory, wordOf } from './stack-memory.ts';
import { MACHINE_REGISTERS, type MachineRegisters } from './unwind-machine.ts';
import type { UnwindModule } from './unwind-module.ts';

/**
 * What came of one step from a frame to its caller:
 *
 * - `stepped`: the registers are the caller's
 * - `outermost`: there is no caller
 * - `uncalled`: nor was the frame called: whoever made the stack put its address there, for the stack's first function to return to
 * - `truncated`: what is needed is not in the dump
 * - `bad-frame`: a rule that cannot hold
 * - `no-rule`: there is nothing to go by
 * - `pending`: bytes of a file have to be read first: of `wantingModule`, or of one that is not loaded yet
 * - `repeat`: registers are needed that frames which were taken over have not restored: all frames have to be unwound
 */
export type StepEnd = 'stepped' | 'outermost' | 'uncalled' | 'truncated' | 'bad-frame' | 'no-rule' | 'pending' | 'repeat';

/** One frame on the way: its registers, and the memory in which those of its callers are. */
export class UnwindState implements ExpressionMemory {
  machine: MachineRegisters = MACHINE_REGISTERS.x86_64;
  /** Of the frame. */
  registers: RegisterFile = new RegisterFile(0);
  /** For what is made of those: the caller's, until {@link swapRegisters}. */
  next: RegisterFile = new RegisterFile(0);
  readonly stack = new StackMemory();
  space!: CodeSpace;
  /** The frame's instruction pointer, or return address. */
  pc = 0;
  /** The words of a return address, which need not be an address at all. */
  pcLo = 0;
  pcHi = 0;
  /** The bits of {@link pc} that {@link MachineRegisters.pcMask} takes away: of a return address of 32-bit Arm, 1 for Thumb. */
  pcMode = 0;
  /**
   * Whether the frame is a caller in code of which nothing is known, and the frame before was left by a rule: a frame pointer of 0 then is not the end of a chain,
   * since none was followed.
   */
  isUnchained = false;
  /** Whether {@link pc} is a return address. */
  isCall = false;
  /** After `truncated`: the register whose value would be needed to go on; −1 where it is something else. */
  missingRegister = -1;
  /** After `truncated`, where no rule led there: the stack pointer behind the return address that is not in the dump; NaN where the registers say it. */
  callerSp = Number.NaN;
  /** After `pending`: the module that wants bytes; undefined for one that is not loaded. */
  wantingModule: UnwindModule | undefined = undefined;
  /** After `pending` without such a module: the {@link CodeSpace.file} that is not loaded. */
  wantedFile = -1;
  /** What {@link readWord} found. */
  word = 0n;
  readonly #files = new Map<MachineRegisters, readonly [RegisterFile, RegisterFile]>();

  setMachine(machine: MachineRegisters): void {
    if (this.machine === machine && this.registers.lo.length === machine.count) return;
    let files = this.#files.get(machine);
    if (files === undefined) {
      files = [new RegisterFile(machine.count), new RegisterFile(machine.count)];
      this.#files.set(machine, files);
    }
    this.machine = machine;
    [this.registers, this.next] = files;
  }

  swapRegisters(): void {
    const { registers } = this;
    this.registers = this.next;
    this.next = registers;
  }

  /** How a step ends that needs a register whose value is not known. @param register −1 where it is something else */
  without(register: number): StepEnd {
    this.missingRegister = register;
    return 'truncated';
  }

  /** How a step without a rule ends where the return address is not in the dump. @param callerSp the stack pointer behind it */
  truncated(callerSp: number): StepEnd {
    this.callerSp = callerSp;
    return 'truncated';
  }

  /** As the code space's own `find`, but notes what has to be loaded first, whatever is looked for later. */
  find(address: number): CodeMatch {
    const { space } = this;
    const match = space.find(address);
    if (match === 'pending') {
      this.wantingModule = undefined;
      this.wantedFile = space.file;
    }
    return match;
  }

  /** Memory as rules and expressions may read it: the dump, and what is read-only in files. */
  readWord(address: number, sizeBytes: number): MemoryMatch {
    const word = this.stack.bytes(address, sizeBytes);
    if (word !== undefined) {
      this.word = word;
      return 'found';
    }
    const match = this.find(address);
    if (match === 'pending') return 'wanted';
    const { module } = this.space;
    if (match !== 'found' || module === undefined) return 'absent';
    const { memory } = module;
    const inFile = memory.find(address - this.space.bias, sizeBytes);
    if (inFile === 'wanted') this.wantingModule = module;
    if (inFile === 'found') this.word = wordOf(memory.view, memory.offset, sizeBytes);
    return inFile;
  }
}
