import { CALLING_CONVENTIONS } from '../../machines/calling-conventions.ts';
import type { CodeBytes } from '../../memory/code-bytes.ts';
import type { MachineModule } from '../../modules/unwind-module.ts';
import type { ScanState } from '../code/scan-state.ts';
import { I386Callees } from './i386-callees.ts';

/** Knows what calls change. */
export class CallEffects {
  readonly #i386Callees: I386Callees;

  constructor(code: CodeBytes) {
    this.#i386Callees = new I386Callees(code);
  }

  /**
   * Applies what a function has changed that was called right before an svma; meaningless if code has to be read first ({@link CodeBytes.isPending}).
   * @param dropsArguments whether arguments that the function has taken off the stack are gone; else they still count as part of the caller's frame
   * @returns whether it is certain that the function returns
   */
  apply(module: MachineModule, svma: number, state: ScanState, dropsArguments: boolean): boolean {
    const { name, sp } = module.registers;
    const isI386 = name === 'i386';
    const changed = isI386 ? this.#i386Callees.onlyChangedBefore(module, svma) : -1;
    if (changed >= 0) {
      state.clobber(changed);
      return true;
    }
    const { callerSaved, changedByCall } = CALLING_CONVENTIONS[name];
    // Code that still uses a number in such a register relies on the call not to change it: compilers know which registers functions of the same file change
    // (gcc's -fipa-ra).
    for (const register of callerSaved) if (!state.isConstant(register) || changedByCall.includes(register)) state.clobber(register);
    if (isI386 && dropsArguments) state.add(sp, sp, this.#i386Callees.poppedBefore(module, svma));
    return false;
  }
}
