import { RegisterFile } from '../machines/register-file.ts';
import { MACHINE_REGISTERS, type MachineRegisters } from '../machines/unwind-machine.ts';

const WORD = 0x1_0000_0000;

/**
 * The current frame of the walk: its address and its registers. The walk sets the address and how the frame was reached. Steps build the caller's registers in
 * {@link next} and switch to them; they get a {@link FrameView}.
 */
export class Frame {
  machine: MachineRegisters = MACHINE_REGISTERS.x86_64;
  registers: RegisterFile = new RegisterFile(0);
  /** For building the caller's registers, until {@link goToNext}. */
  next: RegisterFile = new RegisterFile(0);
  /** The instruction pointer, or the return address. */
  pc = 0;
  /** The words of the last return address that was read, which need not be a valid address. */
  pcLo = 0;
  pcHi = 0;
  /** The bits that {@link MachineRegisters.pcMask} removes from {@link pc}: on 32-bit Arm, 1 for Thumb. −1 where they are not known: in sampled code. */
  pcMode = -1;
  /** Whether {@link pc} is a return address. */
  isCall = false;
  /**
   * Whether the frame is a caller in code of which nothing is known, and the previous frame was left by a rule. A frame pointer of 0 does not end a chain then,
   * since none was followed.
   */
  entersUnknownCode = false;
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

  /** Makes {@link next} the registers of the frame. */
  goToNext(): void {
    const { registers } = this;
    this.registers = this.next;
    this.next = registers;
  }

  /** Undoes {@link goToNext}, which may be called again as long as {@link next} has not been overwritten. */
  goBack(): void {
    this.goToNext();
  }

  /** After {@link goToNext}: the registers that the frame had before, until {@link next} is overwritten. */
  get previousRegisters(): RegisterFile {
    return this.next;
  }
}

/** A frame as steps see it. */
export type FrameView = Readonly<Omit<Frame, 'setMachine' | 'setReturnAddress'>>;
