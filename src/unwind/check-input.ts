import { ByteView } from '../base/bytes/byte-view.ts';
import { demand } from '../base/problems/check-options.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import type { UnwindInput } from './frames/unwind-input.ts';
import type { CodeSpace } from './modules/code-space.ts';

/** Rejects what no sample and no address space can be, since not every caller has its types checked by a compiler. @throws PerfconvError `usage` */
export function checkInput(input: UnwindInput, space: CodeSpace): void {
  if (typeof input !== 'object' || input === null) throw new PerfconvError('usage', 'a stack is unwound from an object with its registers and its bytes');
  const { view, regsOffset, regsMaskLo, regsMaskHi, stackOffset, stackSizeBytes } = input;
  if (!(view instanceof ByteView)) throw new PerfconvError('usage', 'the view of a stack is no ByteView');
  demandByteCount('regsOffset', regsOffset);
  demandByteCount('stackOffset', stackOffset);
  demandByteCount('stackSizeBytes', stackSizeBytes);
  demandWord('regsMaskLo', regsMaskLo);
  demandWord('regsMaskHi', regsMaskHi);
  if (typeof space?.find !== 'function') throw new PerfconvError('usage', 'what is mapped is told by an object with the function find');
}

function demandByteCount(name: string, value: number): void {
  demand(Number.isSafeInteger(value) && value >= 0, name, value, 'a number of bytes');
}

/** Bits may be given as a signed or an unsigned number. */
function demandWord(name: string, value: number): void {
  demand(Number.isInteger(value) && value >= -0x8000_0000 && value <= 0xffff_ffff, name, value, '32 bits');
}
