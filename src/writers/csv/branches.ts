import type { ByteSink } from '../../base/byte-sink.ts';
import { TextWriter } from '../../base/text-writer.ts';
import type { BranchTotals } from '../../profile/branches.ts';
import { hexAddress, NAMELESS } from '../../profile/names.ts';
import type { Profile } from '../../profile/profile.ts';
import { quoted } from './fields.ts';

/** Written for an unknown function, as in results.csv. */
const UNRESOLVED = '??';

/**
 * Writes branches.csv: how often each branch was recorded as taken, the most frequent first. A row is an event, a branch and its target, in all
 * processes together. Columns: `event`, `taken`, `mispredicted`, `predicted`, `cycles` (since the branch before, added up); for the branch and,
 * with `to` in place of `from`, for its target: `from`, the address in the binary (0x and hexadecimal digits; a run-time address in the kernel and
 * outside of all maps), `from_function`, `from_offset` from where that begins (empty when unknown), `from_dso`, `from_build_id`. Merged recordings
 * have a last column `input`.
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

/** By falling number; equal ones in the order in which they were first taken. */
function sortedRows(branches: BranchTotals): Uint32Array {
  return Uint32Array.from({ length: branches.size }, (_, row) => row).sort((a, b) => branches.taken(b) - branches.taken(a) || a - b);
}

function placeColumns({ functions, locations, mappings, strings }: Profile, location: number): string {
  const mapping = locations.mapping(location);
  const lines = locations.lineCount(location);
  const start = locations.functionStart(location);
  const dso = mapping < 0 ? NAMELESS : mappings[mapping].name || NAMELESS;
  let name = UNRESOLVED;
  let offset = '';
  if (lines > 0 && !locations.isStandIn(location)) {
    name = strings.get(functions.name(locations.lineFunction(location, lines - 1))) || UNRESOLVED;
    offset = String(locations.symbolOffset(location));
  } else if (lines > 0 && start >= 0) {
    // A function without a name, of which it is known where it begins.
    name = strings.get(functions.name(locations.lineFunction(location, lines - 1)));
  }
  const address = hexAddress(locations.addressLo(location), locations.addressHi(location));
  return `0x${address},${quoted(name)},${offset},${quoted(dso)},${quoted(mapping < 0 ? '' : mappings[mapping].buildId)}`;
}
