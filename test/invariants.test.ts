import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTROL_NAMES, controlNames } from './support/builders/recordings/control-names.ts';
import { encodeFile } from './support/builders/recordings/perf-encoder.ts';
import { fixtureFile, fixtureNames } from './support/fixture-files.ts';
import { makeTempDir, removeTempDir } from './support/perf/perf-tool.ts';
import { spread } from './support/thoroughness.ts';
import { totalsText } from './support/truth/event-totals.ts';
import { bytesAs, describeInvariants, eventNames, expectNoControls, GROUPS, profileTotals, read } from './support/truth/invariants.ts';
import { chromeSamples, pprofTotals, speedscopeTotals } from './support/truth/output-totals.ts';

describeInvariants(spread(fixtureNames, 3).map((name) => [name, fixtureFile(name)] as const));

describe('names with control characters', () => {
  let directory = '';
  let path = '';
  beforeAll(async () => {
    directory = makeTempDir();
    path = join(directory, 'controls.data');
    writeFileSync(path, encodeFile(controlNames()));
  });
  afterAll(() => removeTempDir(directory));

  it('never reach a terminal', () => expectNoControls(path, directory));

  it('do not affect the totals in JSON and pprof, which stay readable', async () => {
    const { profile } = await read(path);
    const expected = totalsText(profileTotals(profile));
    expect(expected.length).toBe(CONTROL_NAMES.length);
    for (const group of GROUPS) {
      expect(totalsText(speedscopeTotals(await bytesAs('speedscope', profile, { group }), eventNames(profile)))).toEqual(expected);
    }
    expect(totalsText(pprofTotals(await bytesAs('pprof', profile, {}), eventNames(profile)))).toEqual(expected);
    expect(chromeSamples(await bytesAs('chrome', profile, {}))).toBe(CONTROL_NAMES.length);
  });
});
