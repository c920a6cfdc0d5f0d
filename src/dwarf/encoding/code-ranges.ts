/** What TypeScript and AssemblyScript decide alike: this file is compiled to both. */

import { DW_FORM_addr, DW_FORM_addrx, DW_FORM_addrx1, DW_FORM_addrx4, DW_FORM_GNU_addr_index } from './dwarf-constants.ts';

/**
 * Whether a range of code is in the program. Linkers put 0, 1, −1 or −2 in place of the address of code that they discarded: GNU ld and gold the first two, lld
 * the last two (DWARF 6 makes −1 the official one). NaN is never live.
 * @param addressSize in bytes
 * @param hasCodeAtZero whether 0 is an address like any other
 */
export function isLiveRange(start: number, end: number, addressSize: number, hasCodeAtZero: boolean): boolean {
  if (!(start < end)) return false;
  // All bits set: if it has 8 bytes, as a signed double.
  const top: number = addressSize === 8 ? -1 : 0xffff_ffff;
  if (start === top || start === top - 1) return false;
  return start > 1 || start < 0 || hasCodeAtZero;
}

/** Whether a DW_AT_high_pc of this form is an address; for others, it is the distance from DW_AT_low_pc (DWARF 4, 2.17.2). */
export function isAddressForm(form: number): boolean {
  return form === DW_FORM_addr || form === DW_FORM_addrx || form === DW_FORM_GNU_addr_index || (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4);
}
