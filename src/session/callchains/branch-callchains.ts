import { ByteView } from '../../base/bytes/byte-view.ts';
import { BRANCH_ENTRY_BYTES } from '../../perfdata/samples/branch-stack.ts';
import type { SampleOffsets } from '../../perfdata/samples/sample-layout.ts';
import { MARKER_HIGH, USER_MARKER } from './callchain-entries.ts';

const ENTRY_BYTES = 8;
/** Records have at most 64 KB, and a branch's address may take two entries of a chain. */
const MAX_CHAIN_BYTES = 1 << 17;

/**
 * Joins callchains whose user part the processor has recorded as branches (`--call-graph lbr`): one for each call that has not returned, innermost first. The
 * recorded callchain has the kernel part and, after the user marker, the address at which user code was.
 *
 * - By default, the chain has that address, then the addresses of the calls. These are not return addresses, which callchains otherwise have, so each has a
 *   marker before it. If the kernel has cut the callchain off after the marker, the target of the innermost call stands for the address: it is in the same
 *   function.
 * - As perf joins them, the target always takes the place of the address. Observed: perf 6.1. (If there are no branches, perf goes on with what is after the
 *   record; here, the callchain stays as it was recorded.)
 */
export class BranchCallchains {
  readonly #isAsPerf: boolean;
  readonly #data = new DataView(new ArrayBuffer(MAX_CHAIN_BYTES));
  /** The joined chain, from byte 0 on. */
  readonly view = new ByteView(new Uint8Array(this.#data.buffer), true);
  /** Number of its entries. */
  count = 0;

  constructor(isAsPerf: boolean) {
    this.#isAsPerf = isAsPerf;
  }

  /** Joins a sample's chain. @returns false if it has no branches or no user part: then it stays as it was recorded */
  join(view: ByteView, { branchStack, branchEntries, callchainIps, callchainCount }: SampleOffsets): boolean {
    // hot
    const branches = view.u64(branchStack);
    const marker = userMarker(view, callchainIps, callchainCount);
    if (branches === 0 || marker < 0) return false;
    const isAsPerf = this.#isAsPerf;
    this.count = 0;
    for (let i = 0; i <= marker; i++) this.#put(view, callchainIps + i * ENTRY_BYTES);
    const hasAddress = marker + 1 < callchainCount;
    this.#put(view, isAsPerf || !hasAddress ? branchEntries + ENTRY_BYTES : callchainIps + (marker + 1) * ENTRY_BYTES);
    for (let i = 0; i < branches; i++) {
      if (!isAsPerf) this.#putWords(USER_MARKER, MARKER_HIGH);
      this.#put(view, branchEntries + i * BRANCH_ENTRY_BYTES);
    }
    return true;
  }

  #put(view: ByteView, from: number): void {
    this.#putWords(view.lo(from), view.hi(from));
  }

  #putWords(lo: number, hi: number): void {
    const at = this.count++ * ENTRY_BYTES;
    this.#data.setUint32(at, lo, true);
    this.#data.setUint32(at + 4, hi, true);
  }
}

/** Index of the user part's marker among the entries of a callchain; −1 if it has none. */
function userMarker(view: ByteView, ips: number, count: number): number {
  for (let i = 0; i < count; i++) {
    const at = ips + i * ENTRY_BYTES;
    if (view.hi(at) === MARKER_HIGH && view.lo(at) === USER_MARKER) return i;
  }
  return -1;
}
