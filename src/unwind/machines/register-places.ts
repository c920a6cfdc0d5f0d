import { bitCount } from '../../base/bytes/bit-count.ts';
import type { MachineRegisters } from './unwind-machine.ts';

/** Where a sample's registers are, given the mask of those that were recorded. The last result is kept, since most samples have the same mask. */
export class RegisterPlaces {
  #places = new Int32Array();
  /** What the places were computed for. */
  #machine: MachineRegisters | undefined;
  #maskLo = 0;
  #maskHi = 0;

  /** Offsets by DWARF number, then that of the instruction pointer: bytes from the first register on, −1 for those that were not recorded. */
  of(layout: MachineRegisters, maskLo: number, maskHi: number): Int32Array {
    if (this.#machine !== layout || this.#maskLo !== maskLo || this.#maskHi !== maskHi) {
      this.#places = Int32Array.from([...layout.perfBits, layout.pcBit], (bit) => placeOf(bit, maskLo, maskHi));
      this.#machine = layout;
      this.#maskLo = maskLo;
      this.#maskHi = maskHi;
    }
    return this.#places;
  }
}

/** Offset in bytes of the register of a bit, from the first one on; −1 if the bit is not in the mask. */
function placeOf(bit: number, maskLo: number, maskHi: number): number {
  if (bit < 0) return -1;
  const isHigh = bit >= 32;
  const mask = isHigh ? maskHi : maskLo;
  const flag = 1 << (bit & 31);
  if ((mask & flag) === 0) return -1;
  return 8 * ((isHigh ? bitCount(maskLo) : 0) + bitCount(mask & (flag - 1)));
}
