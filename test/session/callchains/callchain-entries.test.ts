import { describe, expect, it } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import * as abi from '../../../src/perfdata/abi/constants.ts';
import {
  beginsWith,
  beginsWithAddress,
  cpumodeOfMarker,
  endsWithCookie,
  isMarker,
  MARKER_HIGH,
  markerOf,
} from '../../../src/session/callchains/callchain-entries.ts';
import { ByteWriter, context } from '../../support/builders/recordings/perf-encoder.ts';

const { PERF_RECORD_MISC_KERNEL: KERNEL, PERF_RECORD_MISC_USER: USER } = abi;

function viewOf(...entries: bigint[]): ByteView {
  const out = new ByteWriter('little');
  for (const entry of entries) out.u64(entry);
  return new ByteView(Uint8Array.from(out.bytes()), true);
}

describe('entries of callchains', () => {
  it('are markers from -4095 on', () => {
    expect([-4096, -4095, -512, -1].map((entry) => isMarker(entry >>> 0, 0xffff_ffff))).toEqual([false, true, true, true]);
    expect(isMarker(-512 >>> 0, 0xffff_fffe)).toBe(false);
  });

  it.each([0, 1, 2, 3, 4, 5])('have a marker for mode %i, which stands for that mode', (cpumode) => {
    const marker = markerOf(cpumode);
    expect([isMarker(marker, MARKER_HIGH), cpumodeOfMarker(marker)]).toEqual([true, cpumode]);
  });

  it('end with a cookie only if its marker comes right before', () => {
    const view = viewOf(context.userDeferred, 7n, context.userDeferred, 8n, 9n);
    expect([0, 1, 2, 3, 4, 5].map((count) => endsWithCookie(view, 0, count))).toEqual([false, false, true, false, true, false]);
    // The marker before these belongs to another chain.
    expect([endsWithCookie(view, 24, 1), endsWithCookie(view, 16, 0)]).toEqual([false, false]);
  });

  it('begin with an address if only markers of known contexts come before it', () => {
    expect(beginsWithAddress(viewOf(context.kernel, context.user, 1n), 0, 3)).toBe(true);
    expect(beginsWithAddress(viewOf(context.kernel, context.user, 1n), 0, 2)).toBe(false);
    expect(beginsWithAddress(viewOf(context.userDeferred, 7n), 0, 2)).toBe(false);
    expect(beginsWithAddress(viewOf(BigInt.asUintN(64, -600n), 1n), 0, 2)).toBe(false);
  });

  it('begin with a given address in a given mode', () => {
    const address = 0x7f_0000_1234n;
    const begins = (view: ByteView, count: number, lo = 0x1234, hi = 0x7f): boolean => beginsWith(lo, hi, USER, view, 0, count);
    expect([begins(viewOf(address), 1), begins(viewOf(address), 1, 0x1235), begins(viewOf(address), 1, 0x1234, 0x7e)]).toEqual([true, false, false]);
    expect(begins(viewOf(address), 0)).toBe(false);
    const marked = viewOf(context.user, address);
    expect([begins(marked, 2), begins(marked, 2, 0x1235), begins(marked, 2, 0x1234, 0x7e), begins(marked, 1)]).toEqual([true, false, false, false]);
    expect(beginsWith(0x1234, 0x7f, KERNEL, marked, 0, 2)).toBe(false);
  });
});
