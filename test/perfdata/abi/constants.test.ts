import { describe, expect, it } from 'vitest';
import { sampleTypeNames } from '../../../src/perfdata/abi/attr-names.ts';
import * as abi from '../../../src/perfdata/abi/constants.ts';

/** The constants that begin with a prefix, without it. */
function constants(prefix: string): [name: string, value: number][] {
  return Object.entries(abi).flatMap(([name, value]) =>
    typeof value === 'number' && name.startsWith(prefix) ? [[name.slice(prefix.length), value] as [string, number]] : [],
  );
}

describe('the names of numbers, which are listed apart from them', () => {
  it('are those of record types', () => {
    const types = constants('PERF_RECORD_').filter(([name]) => !/^MISC_|USER_TYPE_START$/.test(name));
    expect(types.length).toBeGreaterThan(40);
    // perf report --stats leaves the prefix out.
    expect(types.map(([, type]) => abi.recordTypeNameOf(type))).toEqual(types.map(([name]) => name.replace(/^HEADER_/, '')));
  });

  it('are those of header features', () => {
    const features = constants('HEADER_').filter(([name]) => name !== 'FEAT_BITS');
    expect(features.length).toBeGreaterThan(30);
    expect(features.map(([, feature]) => abi.featureName(feature))).toEqual(features.map(([name]) => name));
  });

  it('are those of the fields of samples', () => {
    const fields = constants('PERF_SAMPLE_').filter(([name]) => !/^(?:REGS_ABI|BRANCH)_(?!STACK$)|^MAX$/.test(name));
    expect(fields.map(([, bit]) => sampleTypeNames(bit))).toEqual(fields.map(([name]) => [name]));
    expect(fields.reduce((bits, [, bit]) => bits | bit, 0)).toBe(abi.PERF_SAMPLE_MAX - 1);
  });
});
