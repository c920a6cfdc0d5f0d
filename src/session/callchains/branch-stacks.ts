import type { ByteView } from '../../base/bytes/byte-view.ts';
import { grown } from '../../base/tables/growable.ts';
import { BRANCH_ENTRY_BYTES, branchFlagsLo } from '../../perfdata/samples/branch-stack.ts';
import type { SampleOffsets } from '../../perfdata/samples/sample-layout.ts';
import type { Piece } from '../../perfdata/stream/pieces.ts';
import type { ProfileBuilder } from '../../profile/builder.ts';
import type { SessionEvent } from '../events/session-event.ts';
import type { AddressSpace } from '../processes/address-space.ts';
import type { RecordRow } from '../rows/record-row.ts';
import { WaitingBytes } from '../rows/waiting-bytes.ts';
import type { FrameResolver } from './frames.ts';

/**
 * The branches that samples carry, on their way into the profile. They are kept when a sample is read, and located when its turn comes: only then is it known
 * what is mapped where. For call stacks (`--call-graph lbr`), which are not branches taken one after the other, single samples are kept, but no totals.
 */
export class BranchStacks {
  readonly #bytes: WaitingBytes;
  #counts = new Uint32Array(256);
  readonly #branch = { fromLo: 0, fromHi: 0, toLo: 0, toHi: 0, flags: 0 };

  constructor(littleEndian: boolean) {
    this.#bytes = new WaitingBytes(littleEndian);
  }

  /** How many bytes of branches wait. */
  get heldBytes(): number {
    return this.#bytes.heldBytes;
  }

  /** Keeps the branches of a sample whose layout has them. @param piece see {@link WaitingBytes.add} @returns their place; −1 if there are none */
  add(view: ByteView, { branchStack, branchEntries }: SampleOffsets, piece: Piece | undefined): number {
    const count = view.u64(branchStack);
    if (count === 0) return -1;
    const place = this.#bytes.add(view, branchEntries, branchEntries + count * BRANCH_ENTRY_BYTES, piece);
    this.#counts = grown(this.#counts, place + 1);
    this.#counts[place] = count;
    return place;
  }

  /** To be called when the sample has been replayed. */
  free(place: number): void {
    this.#bytes.free(place);
  }

  /**
   * Adds the branches of the sample that was added last to the profile.
   * @param row of the sample, which has branches
   * @param sampled its event
   * @param space what is mapped in its process
   */
  keep({ branches: place, event }: RecordRow, sampled: SessionEvent, space: AddressSpace, frames: FrameResolver, profile: ProfileBuilder): void {
    const totals = sampled.hasBranchCallStacks ? undefined : profile.branches;
    const samples = profile.samples?.branches;
    if (totals === undefined && samples === undefined) return;
    if (profile.samples !== undefined) samples?.begin(profile.samples.size - 1);
    const view = this.#bytes.viewOf(place);
    const end = this.#bytes.offsetOf(place) + this.#counts[place] * BRANCH_ENTRY_BYTES;
    const needsPlaces = totals !== undefined || samples?.hasPlaces === true;
    const branch = this.#branch;
    for (let at = this.#bytes.offsetOf(place); at < end; at += BRANCH_ENTRY_BYTES) {
      // hot
      branch.fromLo = view.lo(at);
      branch.fromHi = view.hi(at);
      branch.toLo = view.lo(at + 8);
      branch.toHi = view.hi(at + 8);
      branch.flags = branchFlagsLo(view, at + 16);
      const from = needsPlaces ? frames.placeOf(branch.fromLo, branch.fromHi, space) : -1;
      const to = needsPlaces ? frames.placeOf(branch.toLo, branch.toHi, space) : -1;
      samples?.add(branch, from, to);
      // Entries that the processor has not filled yet are zeros.
      if (totals !== undefined && (branch.fromLo | branch.fromHi | branch.toLo | branch.toHi) !== 0) totals.add(event, from, to, branch.flags);
    }
  }
}
