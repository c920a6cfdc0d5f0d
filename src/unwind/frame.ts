import { RegisterFile } from './register-file.ts';
import { MACHINE_REGISTERS, type MachineRegisters } from './unwind-machine.ts';

const WORD = 0x1_0000_0000;

/**
 * The frame that the walk has come to: where it is, and its registers. The walk writes where that is, and how it was come to; steps make the caller's registers
 * in {@link next}, and go to these. They are given a {@link FrameView}.
 */
export class Frame {
  machine: MachineRegisters = MACHINE_REGISTERS.x86_64;
  registers: RegisterFile = new RegisterFile(0);
  /** For the caller's registers, until {@link goToNext}. */
  next: RegisterFile = new RegisterFile(0);
  /** The instruction pointer, or the return address. */
  pc = 0;
  /** The words of the last return address that was taken, which need not be an address at all. */
  pcLo = 0;
  pcHi = 0;
  /** The bits of {@link pc} that {@link MachineRegisters.pcMask} takes away: of a return address of 32-bit Arm, 1 for Thumb. */
  pcMode = 0;
  /** Whether {@link pc} is a return address. */
  isCall = false;
  /**
   * Whether the frame is a caller in code of which nothing is known, and the frame before was left by a rule: a frame pointer of 0 then is not the end of a chain,
   * since none was followed.
   */
  isUnchained = false;
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

  /** @param mode see {@link pcMode} */
  setReturnAddress(lo: number, hi: number, mode: number): void {
    this.pc = hi * WORD + lo;
    this.pcLo = lo;
    this.pcHi = hi;
    this.pcMode = mode;
  }

  /** Has the registers that were made in {@link next} be those of the frame. */
  goToNext(): void {
    const { registers } = this;
    this.registers = this.next;
    this.next = registers;
  }

  /** Takes {@link goToNext} back, which may be called again as long as nothing else was made in {@link next}. */
  goBack(): void {
    this.goToNext();
  }

  /** After {@link goToNext}: the registers that the frame had before, until others are made in their place. */
  get left(): RegisterFile {
    return this.next;
  }
}

/** A frame as a step out of it sees it. */
export type FrameView = Readonly<Omit<Frame, 'setMachine' | 'setReturnAddress'>>;
