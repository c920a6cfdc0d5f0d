import type { UnwindInput } from '../frames/unwind-input.ts';
import { RegisterPlaces } from '../machines/register-places.ts';
import { isX86, MACHINE_REGISTERS } from '../machines/unwind-machine.ts';
import { CodeBytes } from '../memory/code-bytes.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';
import { FileCode } from '../scan/code/file-code.ts';
import { ScanState } from '../scan/code/scan-state.ts';
import { x86Decoders } from '../scan/decoders/x86/x86-decoder.ts';

/**
 * Tells where the frame of a leaf is whose registers are those after the sampled instruction: see {@link UnwindInput.isRetired}.
 *
 * After most instructions, that is where the next one's rule says. After a call, the return address has been pushed. After a return, the frame is gone.
 */
export class RetiredLeaf {
  /** How many bytes after the sampled instruction the one begins whose rule holds. */
  pcShift = 0;
  /** By how many bytes the stack pointer was higher before the sampled call. */
  spShift = 0;
  readonly #memory: ProcessMemory;
  readonly #code: CodeBytes;
  readonly #fileCode: FileCode;
  readonly #decoders = x86Decoders();
  readonly #state = new ScanState();
  readonly #places = new RegisterPlaces();

  constructor(memory: ProcessMemory) {
    this.#memory = memory;
    this.#code = new CodeBytes(memory);
    this.#fileCode = new FileCode(this.#code);
  }

  /** Whether code has to be read first. */
  get isPending(): boolean {
    return this.#code.isPending;
  }

  /** Whether the frame is not where the registers and the sampled instruction's rule say. */
  get isMoved(): boolean {
    return this.pcShift !== 0 || this.spShift !== 0;
  }

  begin(): void {
    this.pcShift = 0;
    this.spShift = 0;
    this.#code.isPending = false;
  }

  /** Looks at the sampled instruction of a retired leaf. To be called after {@link begin}. */
  look(input: UnwindInput): void {
    const { machine, view, regsOffset, regsMaskLo, regsMaskHi, stackOffset, stackSizeBytes } = input;
    if (!isX86(machine)) return;
    const layout = MACHINE_REGISTERS[machine];
    const { count, sp, fp, addressSize } = layout;
    const place = this.#places.of(layout, regsMaskLo, regsMaskHi)[count];
    if (place < 0 || regsOffset + place + 8 > view.length) return;
    const is64 = addressSize === 8;
    const pc = is64 ? view.u64(regsOffset + place) : view.u32(regsOffset + place);
    const module = this.#code.moduleOf({ pc, machine: layout });
    if (module === undefined) return;
    const { bias, codeBias = bias } = this.#memory.space;
    const state = this.#state;
    const decoder = this.#decoders[machine];
    state.begin(sp);
    this.#fileCode.begin(module);
    const flow = decoder.decode(this.#fileCode, pc - codeBias, state);
    if (this.#fileCode.isMissing) return;
    if (flow === 'next') {
      if (!state.hasFirstValue(sp) || !state.hasFirstValue(fp)) this.pcShift = decoder.sizeBytes;
    } else if (flow === 'call' && Math.min(stackSizeBytes, view.length - stackOffset) >= addressSize) {
      const pushed = is64 ? view.u64(stackOffset) : view.u32(stackOffset);
      if (pushed === pc + decoder.sizeBytes) this.spShift = addressSize;
    }
  }
}
