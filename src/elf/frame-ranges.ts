import type { ByteView } from '../base/byte-view.ts';
import { DW_EH_PE_APPLICATION_MASK, DW_EH_PE_pcrel } from './eh-pointers.ts';
import { FrameSection } from './frame-section.ts';

/**
 * Visits the code ranges that the FDEs of an `.eh_frame` section describe: one for each function, or for each part of one
 * that was split. An entry that makes no sense is passed over; one whose length overruns the section ends the walk.
 * @param addr the address (svma) of the section
 * @param visit gets the first address, and the one just after the last
 */
export function visitFrameRanges(view: ByteView, addr: number, classBits: 32 | 64, visit: (start: number, end: number) => void): void {
  const addressSize = classBits === 64 ? 8 : 4;
  const section = new FrameSection({ view, addr, addressSize, textAddr: 0, dataAddr: 0, isDebugFrame: false, hasCodeAtZero: true });
  for (let at = 0; at >= 0 && at < section.sizeBytes; at = section.nextEntry) {
    // hot
    if (section.readFde(at) && section.hasCode && isSelfContained(section)) visit(section.start, section.end);
  }
}

/** Whether the addresses of an FDE are relative to nothing, or to their own places, as all compilers write them. */
function isSelfContained({ cie }: FrameSection): boolean {
  const application = (cie?.pointerEncoding ?? 0) & DW_EH_PE_APPLICATION_MASK;
  return application === 0 || application === DW_EH_PE_pcrel;
}
