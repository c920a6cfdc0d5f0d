import type { KsymbolRecord, MmapRecord } from '../../perfdata/records/mapping-records.ts';
import type { AddressSpace } from './address-space.ts';
import type { DsoTable } from './dsos.ts';
import { KernelMaps } from './kernel-maps.ts';

/** The process id that perf gives to a virtual machine of which it knows only that there is one. Source: perf-kvm's documentation, `--guestkallsyms`. */
const ANY_GUEST_PID = 0;

/** The kernels of a recording: the machine's own, and those of virtual machines that ran on it. */
export class Kernels {
  readonly #host: KernelMaps;
  readonly #newSpace: () => AddressSpace;
  readonly #dsos: DsoTable;
  readonly #guests: KernelMaps[] = [];
  readonly #guestByPid = new Map<number, number>();
  #guestChanges = 0;

  /** @param shownByPath see {@link KernelMaps} */
  constructor(newSpace: () => AddressSpace, dsos: DsoTable, shownByPath: ReadonlySet<string>) {
    this.#newSpace = newSpace;
    this.#dsos = dsos;
    this.#host = new KernelMaps(newSpace(), dsos, { shownByPath });
  }

  /** Changes with every change of the maps of any kernel. */
  get generation(): number {
    return this.#host.generation + this.#guestChanges;
  }

  /** DSO of an address in the machine's own kernel, −1 for none. See {@link KernelMaps.find}. */
  find(address: number): number {
    return this.#host.find(address);
  }

  /** DSO of an address in the kernel of a virtual machine, as {@link mapGuest} has numbered them; −1 for none. */
  findGuest(address: number, guest: number): number {
    const known = guest >= 0 ? guest : this.#guestByPid.get(ANY_GUEST_PID);
    return known === undefined ? -1 : this.#guests[known].find(address);
  }

  /** Applies a map of the machine's own kernel or of one of its modules. */
  map(record: MmapRecord): void {
    this.#host.map(record);
  }

  /** Applies a record of code that is added to the machine's own kernel, or removed. */
  apply(record: KsymbolRecord): void {
    this.#host.apply(record);
  }

  /**
   * Applies a map of a virtual machine's kernel; the record names the process that runs it.
   * @returns the number of that virtual machine; −1 for the one that stands for all processes about which nothing else is known
   */
  mapGuest(record: MmapRecord): number {
    let guest = this.#guestByPid.get(record.pid);
    if (guest === undefined) {
      guest = this.#guests.push(new KernelMaps(this.#newSpace(), this.#dsos, { isGuest: true })) - 1;
      this.#guestByPid.set(record.pid, guest);
    }
    this.#guests[guest].map(record);
    this.#guestChanges++;
    return record.pid === ANY_GUEST_PID ? -1 : guest;
  }
}
