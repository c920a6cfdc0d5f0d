import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { SplitRecords } from '../../src/simpleperf/split-records.ts';
import { type AttrSpec, encodeFile, encodeRecord, type RecordSpec, simpleperfRecords, splitRecord } from '../support/builders/recordings/perf-encoder.ts';
import { decode } from '../support/readers/decode.ts';

const attrs: readonly AttrSpec[] = [{ sampleType: ['ip'] }];
const whole = encodeRecord(simpleperfRecords.debug({ time: 1n, text: 'x'.repeat(300) }), attrs);

function join(pieces: readonly Uint8Array[]): { joined: Uint8Array | undefined; problems: string[] } {
  const diagnostics = new Diagnostics();
  const splits = new SplitRecords(diagnostics);
  let at = 100;
  for (const piece of pieces) {
    splits.add(piece, at);
    at += piece.length;
  }
  const joined = splits.end(at)?.slice();
  return { joined, problems: diagnostics.list().map(({ severity, message, firstOffset }) => `${severity} at ${firstOffset}: ${message}`) };
}

const lost = 'a record that was written in pieces (SPLIT) is lost';

describe('SPLIT records', () => {
  it.each([1, 7, 8, 100, whole.length])('of %i bytes make up the whole record again', (pieceBytes) => {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < whole.length; at += pieceBytes) pieces.push(whole.subarray(at, at + pieceBytes));
    expect(join(pieces)).toEqual({ joined: whole, problems: [] });
  });

  it.each([
    ['no piece', [], `loss at 100: ${lost}: there is no piece before its end`],
    ['less than a header', [whole.subarray(0, 5)], `loss at 100: ${lost}: its pieces add up to 5 bytes, less than a record header`],
    ['a piece too few', [whole.subarray(0, 100)], `loss at 100: ${lost}: its pieces add up to 100 bytes, but its header says ${whole.length} bytes`],
    ['a piece too many', [whole, whole], `loss at 100: ${lost}: its pieces add up to ${2 * whole.length} bytes, but its header says ${whole.length} bytes`],
    ['a piece of a piece', [encodeRecord(simpleperfRecords.splitEnd(), attrs)], `loss at 100: ${lost}: it is itself a piece of another one`],
  ])('with %s are reported', (_, pieces, problem) => {
    expect(join(pieces)).toEqual({ joined: undefined, problems: [problem] });
  });

  it('take no more memory than a large record needs', () => {
    const diagnostics = new Diagnostics();
    const splits = new SplitRecords(diagnostics);
    const piece = new Uint8Array(32 << 20);
    for (let i = 0; i < 3; i++) splits.add(piece, i);
    expect(splits.end(9)).toBeUndefined();
    expect(diagnostics.list()).toMatchObject([{ code: 'split-damaged', firstOffset: 0, message: `${lost}: it has more than ${64 << 20} bytes` }]);
    // The next one is whole again.
    splits.add(whole, 10);
    expect(splits.end(11)).toEqual(whole);
  });

  it('without an end are reported at the end of the recording, and what follows them is read', async () => {
    const kallsyms = simpleperfRecords.kernelSymbol('ffffff9000000000 T do_work\n');
    const [first] = splitRecord(kallsyms, attrs, 20);
    const countsOf = async (records: readonly RecordSpec[]) => {
      const { session, diagnostics } = await decode(encodeFile({ attrs, records }));
      return { counts: session.counts.entries(), codes: diagnostics.list().map(({ code }) => code) };
    };
    expect(await countsOf([first, simpleperfRecords.debug({ time: 1n, text: '' })])).toEqual({
      counts: [
        [32772, 1],
        [32778, 1],
      ],
      codes: ['split-damaged'],
    });
    expect(await countsOf([first, simpleperfRecords.splitEnd(), ...splitRecord(kallsyms, attrs, 20)])).toEqual({
      counts: [
        [32769, 1],
        [32772, 4],
        [32773, 2],
      ],
      codes: ['split-damaged'],
    });
  });
});
