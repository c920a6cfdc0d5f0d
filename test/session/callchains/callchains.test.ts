import { describe, expect, it } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import * as abi from '../../../src/perfdata/abi/constants.ts';
import { CallchainTable } from '../../../src/session/callchains/callchains.ts';
import { ByteWriter, context } from '../../support/builders/recordings/perf-encoder.ts';

const { PERF_RECORD_MISC_KERNEL: KERNEL, PERF_RECORD_MISC_USER: USER } = abi;

/** Entries as they are stored in a record, `offset` bytes from the start. */
function viewOf(entries: readonly bigint[], byteOrder: 'little' | 'big' = 'little', offset = 0): ByteView {
  const out = new ByteWriter(byteOrder).zeros(offset);
  for (const entry of entries) out.u64(entry);
  return new ByteView(Uint8Array.from(out.bytes()), byteOrder === 'little');
}

const intern = (table: CallchainTable, entries: readonly bigint[], cpumode = USER): number => table.intern(viewOf(entries), 0, entries.length, cpumode);

function entriesOf(table: CallchainTable, chain: number): bigint[] {
  const entries: bigint[] = [];
  for (let at = table.startOf(chain); at < table.endOf(chain); at += 2) entries.push((BigInt(table.words[at + 1]) << 32n) | BigInt(table.words[at]));
  return entries;
}

describe('callchains', () => {
  it('begin with the marker of their mode, whether or not it was recorded', () => {
    const table = new CallchainTable();
    const chain = intern(table, [0x1234n, 0x5678n]);
    expect(entriesOf(table, chain)).toEqual([context.user, 0x1234n, 0x5678n]);
    expect(intern(table, [context.user, 0x1234n, 0x5678n], KERNEL)).toBe(chain);
    expect(entriesOf(table, intern(table, [0x1234n, 0x5678n], KERNEL))).toEqual([context.kernel, 0x1234n, 0x5678n]);
    expect(entriesOf(table, intern(table, []))).toEqual([context.user]);
    expect(table.size).toBe(3);
  });

  it('are the same in either byte order and at any offset', () => {
    const table = new CallchainTable();
    const entries = [context.kernel, 0xffff_ffff_8100_0010n, context.user, 0x7f01_2345_6789n];
    const chains = (['little', 'big'] as const).flatMap((byteOrder) =>
      [0, 1, 2, 4, 8].map((offset) => table.intern(viewOf(entries, byteOrder, offset), offset, entries.length, USER)),
    );
    expect(new Set(chains)).toEqual(new Set([0]));
    expect(entriesOf(table, 0)).toEqual(entries);
  });

  it('may have a leaf of their own before the recorded entries, or be a single address', () => {
    const table = new CallchainTable();
    const leaf = table.internWithLeaf(0x4321, 0x7f, viewOf([context.user, 0x5678n]), 0, 2, KERNEL);
    expect(entriesOf(table, leaf)).toEqual([context.kernel, 0x7f_0000_4321n, context.user, 0x5678n]);
    const single = table.internSingle(0x4321, 0x7f, USER);
    expect(entriesOf(table, single)).toEqual([context.user, 0x7f_0000_4321n]);
    expect(intern(table, [0x7f_0000_4321n])).toBe(single);
  });

  it('know their parts: the kernel, user code up to the next marker, and whether addresses depend on the process', () => {
    const table = new CallchainTable();
    const both = intern(table, [context.kernel, 1n, 2n, 3n, context.user, 4n, 5n, context.guest, 6n]);
    expect([table.kernelDepth(both), table.userDepth(both), table.startsInUserCode(both), table.hasUserFrames(both)]).toEqual([3, 2, false, true]);
    const kernel = intern(table, [context.kernel, 1n, context.user]);
    expect([table.kernelDepth(kernel), table.userDepth(kernel), table.startsInUserCode(kernel), table.hasUserFrames(kernel)]).toEqual([1, 0, false, false]);
    // An address whose low half is that of the user marker.
    const alike = intern(table, [context.kernel, 0x7f_ffff_fe00n, context.user, 4n]);
    expect([table.kernelDepth(alike), table.userDepth(alike)]).toEqual([1, 1]);
    const user = intern(table, [4n]);
    expect([table.kernelDepth(user), table.userDepth(user), table.startsInUserCode(user), table.hasUserFrames(user)]).toEqual([0, 1, true, true]);
  });

  it('are stored only once each, however many there are', () => {
    const table = new CallchainTable();
    const chainOf = (i: number): number => intern(table, [context.user, BigInt(i), BigInt(i * 7)]);
    const chains = Array.from({ length: 5000 }, (_, i) => chainOf(i));
    expect(chains).toEqual(Array.from({ length: 5000 }, (_, i) => i));
    expect(Array.from({ length: 5000 }, (_, i) => chainOf(i))).toEqual(chains);
    expect(table.size).toBe(5000);
    expect(entriesOf(table, 4321)).toEqual([context.user, 4321n, 4321n * 7n]);
  });
});
