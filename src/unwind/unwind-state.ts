import { RegisterFile } from './register-file.ts';
import { MACHINE_REGISTERS, type MachineRegisters } from './unwind-machine.ts';

/**
 * What came of one step from a frame to its caller:
 *
 * - `stepped`: the registers are the caller's
 * - `outermost`: there is no caller
 * - `uncalled`: nor was the frame called: whoever made the stack put its address there, for the stack's first function to return to
 * - `truncated`: what is needed is not in the dump: see {@link Shortfall}
 * - `bad-frame`: a rule that cannot hold
 * - `no-rule`: there is nothing to go by
 * - `pending`: bytes of a file have to be read first, see {@link ProcessMemory.wantingModule}
 * - `repeat`: registers are needed that frames which were taken over have not restored: all frames have to be unwound
 */
export type StepEnd = 'stepped' | 'outermost' | 'uncalled' | 'truncated' | 'bad-frame' | 'no-rule' | 'pending' | 'repeat';

/** One frame on the way: where it is, and its registers. */
export class UnwindState {
  machine: MachineRegisters = MACHINE_REGISTERS.x86_64;
  /** Of the frame. */
  registers: RegisterFile = new RegisterFile(0);
  /** For what is made of those: the caller's, until {@link swapRegisters}. */
  next: RegisterFile = new RegisterFile(0);
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
}
