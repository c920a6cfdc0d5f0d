import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { TextWriter } from '../../base/streams/text-writer.ts';
import type { BranchTotals } from '../../profile/branches.ts';
import { hexAddress } from '../../profile/names.ts';
import type { Profile } from '../../profile/profile.ts';
import { dsoColumns, owningFunction, UNRESOLVED } from './code-columns.ts';
import { quoted } from './fields.ts';

/**
 * Writes branches.csv: how often each branch was recorded as taken, the most frequent first. Each row is an event, a branch and its target, in all processes
 * together. Columns: `event`, `taken`, `mispredicted`, `predicted`, `cycles` (since the branch before, added up); for the branch and, with `to` in place of
 * `from`, for its target: `from`, the address in the binary (0x and hexadecimal digits; a run-time address in the kernel and outside all maps),
 * `from_function`, `from_offset` from its beginning (empty when unknown), `from_dso`, `from_build_id`. Merged recordings have a last column `input`.
 */
export async function writeBranchesCsv(profile: Profile, branches: BranchTotals, sink: ByteSink): Promise<void> {
  const { events, inputs } = profile;
  const out = new TextWriter(sink);
  out.put('event,taken,mispredicted,predicted,cycles,from,from_function,from_offset,from_dso,from_build_id,');
  out.put(`to,to_function,to_offset,to_dso,to_build_id${inputs === undefined ? '' : ',input'}\n`);
  for (const row of sortedRows(branches)) {
    out.put(`${quoted(events[branches.event(row)].name)},${branches.taken(row)},${branches.mispredicted(row)},${branches.predicted(row)},`);
    out.put(`${branches.cycles(row)},${placeColumns(profile, branches.from(row))},${placeColumns(profile, branches.to(row))}`);
    out.put(`${inputs === undefined ? '' : `,${quoted(inputs[branches.input(row)].label)}`}\n`);
    if (out.isFull) await out.flush();
  }
  await out.flush();
}

/** By falling count; equal ones in the order in which they were first taken. */
function sortedRows(branches: BranchTotals): Uint32Array {
  return Uint32Array.from({ length: branches.size }, (_, row) => row).sort((a, b) => branches.taken(b) - branches.taken(a) || a - b);
}

function placeColumns(profile: Profile, location: number): string {
  const { functions, locations, strings } = profile;
  const func = owningFunction(locations, location);
  const name = func < 0 ? '' : strings.get(functions.name(func));
  const offset = func < 0 || locations.isStandIn(location) ? '' : String(locations.symbolOffset(location));
  const address = hexAddress(locations.addressLo(location), locations.addressHi(location));
  return `0x${address},${quoted(name || UNRESOLVED)},${offset},${dsoColumns(profile, locations.mapping(location))}`;
}
