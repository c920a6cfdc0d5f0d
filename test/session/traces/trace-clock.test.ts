import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type TimeConversion, TraceClock } from '../../../src/session/traces/trace-clock.ts';

const WORD = 1n << 32n;
const ALL = (1n << 64n) - 1n;

function convert(clock: TraceClock, ticks: bigint): bigint {
  clock.convert(Number(ticks % WORD), Number(ticks / WORD));
  return BigInt(clock.hi) * WORD + BigInt(clock.lo);
}

/** perf_event.h, struct perf_event_mmap_page: how user programs compute times. */
function expected({ shift, mult, zero, cycles, mask }: TimeConversion, ticks: bigint): bigint {
  const whole = mask === 0n ? ticks : BigInt.asUintN(64, cycles + (BigInt.asUintN(64, ticks - cycles) & mask));
  const low = whole & ((1n << shift) - 1n);
  return BigInt.asUintN(64, zero + (whole >> shift) * mult + ((low * mult) >> shift));
}

it('ticks are converted exactly, one after another', () => {
  const conversion = fc.record({
    shift: fc.bigInt(0n, 32n),
    mult: fc.bigInt(1n, WORD - 1n),
    zero: fc.bigInt(0n, ALL),
    cycles: fc.bigInt(0n, ALL),
    mask: fc.oneof(fc.constantFrom(0n, 0xffffn, 0xffffffffn, (1n << 56n) - 1n, ALL), fc.bigInt(0n, ALL)),
  });
  fc.assert(
    fc.property(conversion, fc.array(fc.oneof(fc.bigInt(0n, ALL), fc.bigInt(0n, 1n << 40n)), { minLength: 1, maxLength: 8 }), (words, ticks) => {
      expect(TraceClock.canUse(words)).toBe(true);
      const clock = new TraceClock(words);
      for (const one of ticks) {
        expect(convert(clock, one)).toBe(expected(words, one));
        expect(convert(clock, BigInt.asUintN(64, one + 1n))).toBe(expected(words, BigInt.asUintN(64, one + 1n)));
      }
    }),
  );
});

it('conversions that no kernel makes are refused', () => {
  const words = { shift: 10n, mult: 1n, zero: 0n, cycles: 0n, mask: 0n };
  expect(TraceClock.canUse(words)).toBe(true);
  expect(TraceClock.canUse({ ...words, mult: 0n })).toBe(false);
  expect(TraceClock.canUse({ ...words, mult: WORD })).toBe(false);
  expect(TraceClock.canUse({ ...words, shift: 33n })).toBe(false);
});
