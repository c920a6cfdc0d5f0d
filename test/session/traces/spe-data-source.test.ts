import { describe, expect, it } from 'vitest';
import { hasNeoverseSources, SpeDataSource } from '../../../src/session/traces/spe-data-source.ts';
import { SpeOperation } from '../../../src/spe/operation.ts';
import { dataSourceText } from '../../../src/writers/script/data-source.ts';
import { speClass, speEvent } from '../../support/builders/recordings/spe-encoder.ts';

/** `data_src` of an operation, as a number and as perf script prints it. */
function sourceOf(isNeoverse: boolean, operation: Partial<SpeOperation>, likePerf = false): [string, string] {
  const source = new SpeDataSource(isNeoverse, likePerf);
  source.read(Object.assign(new SpeOperation(), operation));
  return [((BigInt(source.hi) << 32n) | BigInt(source.lo)).toString(16), dataSourceText(source.lo, source.hi, false)];
}

const LOAD = { operationClass: speClass.memory, operation: 0 };
const STORE = { operationClass: speClass.memory, operation: 1 };
const { l1dAccess, l1dRefill, llcAccess, llcMiss, tlbAccess, tlbWalk, remoteAccess } = speEvent;

describe('data sources by events', () => {
  // Observed: perf 6.1.
  it.each([
    ['a load without events', LOAD, 0n, '2'],
    ['a store', STORE, 0n, '4'],
    ['a hit in the first level', LOAD, l1dAccess, '142'],
    ['a miss there', STORE, l1dAccess | l1dRefill, '184'],
    ['a hit in the last level', LOAD, l1dAccess | l1dRefill | llcAccess, '842'],
    ['a miss there', LOAD, llcAccess | llcMiss, '882'],
    ['an access to another socket', LOAD, l1dAccess | l1dRefill | llcAccess | llcMiss | remoteAccess, '2000000882'],
    ['a known translation', LOAD, l1dAccess | tlbAccess, '88000142'],
    ['a walk of the page tables', STORE, tlbAccess | tlbWalk, '90000004'],
    ['what accesses no memory', { operationClass: speClass.branch }, l1dAccess | tlbAccess, '0'],
    ['vector operations', { operationClass: speClass.other, operation: 8 }, l1dAccess, '0'],
  ])('%s', (_, operation, events, expected) => {
    expect(sourceOf(false, { ...operation, events: Number(events), dataSource: 8 })[0]).toBe(expected);
  });
});

describe('data sources of Neoverse cores', () => {
  // Observed: perf 6.1.
  it.each([
    [0x0, '200100142', 'L1 or L1 hit|SNP None'],
    [0x8, '400100442', 'L2 or L2 hit|SNP None'],
    [0x9, '8400000442', 'L2 or L2 hit|SNP Peer'],
    [0xa, '8600000842', 'L3 or L3 hit|SNP Peer'],
    [0xb, '600200842', 'L3 or L3 hit|SNP Hit'],
    [0xc, '8600000842', 'L3 or L3 hit|SNP Peer'],
    [0xd, 'be00000022', 'Remote N/A or N/A|SNP Peer'],
    [0xe, '1a00101042', 'Local RAM or RAM hit|SNP None'],
    [0x1, '2', 'N/A|SNP N/A'],
  ])('%i', (dataSource, expected, text) => {
    const events = Number(l1dAccess | l1dRefill);
    expect(sourceOf(true, { ...LOAD, events, dataSource })).toEqual([expected, `|OP LOAD|LVL ${text}|TLB N/A|LCK No|BLK  N/A`]);
    expect(sourceOf(true, { ...STORE, events, dataSource })[0]).toBe('1e00080024');
  });

  it('follow from the events where the processor did not note any: perf 6.1 shows a hit in the first level', () => {
    const load = { ...LOAD, events: Number(l1dAccess | l1dRefill | llcAccess), dataSource: -1 };
    expect(sourceOf(true, load)[0]).toBe('842');
    expect(sourceOf(true, load, true)[0]).toBe('200100142');
  });

  it.each([
    ['Neoverse N1', '0x00000000413fd0c1', true, true],
    ['Neoverse V1', '0x00000000411fd402', true, true],
    ['Neoverse V2, which perf 6.1 does not know', '0x00000000410fd4f1', true, false],
    ['a Cortex-A76', '0x00000000413fd0b1', false, false],
    ['another manufacturer', '0x00000000483fd0c1', false, false],
    ['an x86', 'GenuineIntel,6,106,6', false, false],
    ['unknown', undefined, false, false],
  ])('are used if the processor is one: %s', (_, cpuid, own, perf) => {
    const features = { present: new Set<number>(), ...(cpuid !== undefined && { cpuid }) };
    expect(hasNeoverseSources(features, false)).toBe(own);
    expect(hasNeoverseSources(features, true)).toBe(perf);
  });
});
