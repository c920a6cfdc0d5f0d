import type { KsymbolRecord, MmapRecord } from '../perfdata/records/mapping-records.ts';
import type { AddressSpace } from './address-space.ts';
import { classifyKernelMap, type DsoTable } from './dsos.ts';

/** Past-highest kernel address, as a signed double: the address space ends at −1. */
const KERNEL_END = 0;

/**
 * Adds a map of the kernel or of one of its modules. Kernel addresses stay run-time addresses.
 * A module lies inside the range of the kernel where that spans everything: it cuts a hole.
 */
export function mapKernel(space: AddressSpace, dsos: DsoTable, record: MmapRecord): void {
  const { kind, name, referenceSymbol } = classifyKernelMap(record.filename);
  let { start } = record;
  // Old files let the kernel begin at 0 or span everything; its page offset is where its text really begins.
  if (kind === 'kernel' && start === 0 && record.pageOffset !== 0) start = record.pageOffset;
  let end = wrapped(record.start + record.length);
  if (end <= start) end = KERNEL_END;
  const dso = dsos.internMapped({ ...record, start, length: end - start }, kind, name);
  if (kind === 'kernel' && referenceSymbol !== '') {
    dsos.dsos[dso].referenceSymbol = referenceSymbol;
    dsos.dsos[dso].referenceAddress = record.pageOffset;
  }
  space.map(start, end, 0, dso);
}

/** KSYMBOL: code such as a BPF program comes or goes. */
export function applyKsymbol(space: AddressSpace, dsos: DsoTable, record: KsymbolRecord): void {
  const end = record.address + record.length;
  if (record.isUnregister) space.unmap(record.address, end);
  else if (record.length > 0) space.map(record.address, end, 0, dsos.internKernelCode(record.name, record.address, record.length));
}

/** A sum of 64-bit numbers as a signed double. */
function wrapped(address: number): number {
  return address >= 2 ** 63 ? address - 2 ** 64 : address;
}
