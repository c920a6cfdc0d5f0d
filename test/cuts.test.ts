import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fixtureFile, fixtureNames } from './support/fixture-files.ts';
import { countWholeRecords } from './support/readers/count-records.ts';
import { decode } from './support/readers/decode.ts';

const CUTS = 20;

describe.each(fixtureNames.filter((name) => !name.startsWith('pipe')))('%s, cut off', (name) => {
  it(`at ${CUTS} places, keeps every whole sample before the cut and says what is missing`, async () => {
    const whole = readFileSync(fixtureFile(name));
    const dataStart = Number(whole.readBigUInt64LE(40));
    const dataEnd = dataStart + Number(whole.readBigUInt64LE(48));
    let state = seedOf(name);
    for (let i = 0; i < CUTS; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const cut = dataStart + Math.floor((state / 2 ** 32) * (dataEnd - dataStart));
      const bytes = whole.subarray(0, cut);
      const { session, diagnostics } = await decode(bytes);
      const expected = countWholeRecords(bytes);
      expect(session.counts.total, `cut at ${cut}`).toBe(expected.records);
      expect(session.counts.get(9), `cut at ${cut}`).toBe(expected.samples);
      expect(diagnostics.hasLoss, `cut at ${cut}`).toBe(true);
      const finding = diagnostics.list().find(({ code }) => code === 'truncated');
      expect(finding?.message, `cut at ${cut}`).toMatch(/^the recording is cut off: \d+ bytes of the data section are missing$/);
      expect(finding?.firstOffset, `cut at ${cut}`).toBeLessThanOrEqual(cut);
    }
  });
});

/** A different sequence of cuts for each file, the same in each run. */
function seedOf(name: string): number {
  return [...name].reduce((hash, character) => (Math.imul(hash, 31) + character.charCodeAt(0)) >>> 0, 7);
}
