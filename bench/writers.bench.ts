// Measures writers on an artificial profile, in which hardly any two samples share a stack:
//
//   npx vitest bench --run bench/writers.bench.ts

import { bench, describe } from 'vitest';
import { CPUMODE_USER } from '../src/profile/location-table.ts';
import { writeFolded } from '../src/writers/folded/folded.ts';
import { writeOtlp } from '../src/writers/otlp/otlp.ts';
import { writePprof } from '../src/writers/pprof/pprof.ts';
import { writeReport } from '../src/writers/report/report.ts';
import { buildProfile } from '../test/support/builders/profiles/build-profile.ts';

const STACKS = 500_000;
const DEPTH = 16;
const LOCATIONS = 60_000;

/** A profile in which hardly any two samples share a stack, which is the worst case for a writer. */
function worstProfile() {
  const profile = buildProfile([{ timeNs: 0, stack: ['main'] }]);
  const { functions, locations, stacks, strings, totals } = profile;
  let seed = 1;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const ids = Array.from({ length: LOCATIONS }, (_, nth) => {
    const location = locations.intern(0, 0x1_0000 + nth * 7, 0, CPUMODE_USER, nth % 2 === 0);
    if (nth % 3 > 0)
      locations.setLines(location, [{ function: functions.intern(strings.intern(`function_number_${nth % 20_000}`)), line: nth, column: 0, file: 0 }], 0);
    return location;
  });
  for (let sample = 1; sample < STACKS; sample++) {
    let stack = -1;
    for (let depth = 0; depth < DEPTH; depth++) stack = stacks.intern(stack, ids[random(depth < 6 ? 3 + depth : LOCATIONS)]);
    totals.add(0, 0, stack, 1_000_000);
  }
  profile.events[0].samples = STACKS;
  return profile;
}

describe(`${STACKS} stacks of ${DEPTH} frames`, () => {
  const profile = worstProfile();
  const nowhere = { write: async () => {} };
  const once = { iterations: 3, warmupIterations: 1, time: 0, warmupTime: 0 };
  bench('pprof', () => writePprof(profile, nowhere, { labels: ['pid', 'tid', 'comm'] }), once);
  bench('otlp', () => writeOtlp(profile, nowhere, { exporter: 'perfconv' }), once);
  bench('folded', () => writeFolded(profile, nowhere), once);
  bench('report', () => writeReport(profile, nowhere), once);
  bench('report with children', () => writeReport(profile, nowhere, { children: true }), once);
});
