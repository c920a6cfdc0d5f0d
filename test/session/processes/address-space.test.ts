import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AddressSpace, GenerationCounter } from '../../../src/session/processes/address-space.ts';
import { RangeTree } from '../../../src/session/processes/range-tree.ts';
import { runs } from '../../support/thoroughness.ts';

type Step = { readonly op: 'map' | 'unmap'; readonly start: number; readonly length: number; readonly dso: number };

const SPAN = 64;

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  op: fc.constantFrom('map', 'map', 'map', 'unmap'),
  start: fc.integer({ min: -SPAN, max: SPAN }),
  length: fc.integer({ min: 0, max: 20 }),
  dso: fc.integer({ min: 0, max: 5 }),
});

function apply(space: AddressSpace, step: Step): void {
  if (step.op === 'unmap') space.unmap(step.start, step.start + step.length);
  else space.map(step.start, step.start + step.length, step.dso * 1000 - step.start, step.dso);
}

/** The naive way: the owner of each single address. */
function applyNaively(owners: Map<number, { dso: number; own: number }>, step: Step): void {
  for (let i = 0; i < step.length; i++) {
    if (step.op === 'unmap') owners.delete(step.start + i);
    else owners.set(step.start + i, { dso: step.dso, own: step.dso * 1000 + i });
  }
}

function contents(space: AddressSpace): Map<number, { dso: number; own: number }> {
  const found = new Map<number, { dso: number; own: number }>();
  for (let address = -SPAN - 5; address < SPAN + 30; address++) {
    const at = space.find(address);
    if (at >= 0) found.set(address, { dso: space.dsoAt(at), own: address + space.deltaAt(at) });
  }
  return found;
}

describe('AddressSpace', () => {
  it('agrees with a map of single addresses after any series of maps over maps', () => {
    fc.assert(
      fc.property(fc.array(stepArbitrary, { maxLength: 40 }), (steps) => {
        const space = new AddressSpace(new GenerationCounter());
        const owners = new Map<number, { dso: number; own: number }>();
        for (const step of steps) {
          apply(space, step);
          applyNaively(owners, step);
        }
        expect([...contents(space)].sort()).toEqual([...owners].sort());
      }),
      { numRuns: runs(500, 150) },
    );
  });

  it('advances the file offset of what remains after a hole', () => {
    const space = new AddressSpace(new GenerationCounter());
    space.map(0x1000, 0x5000, 0x100 - 0x1000, 0);
    space.map(0x2000, 0x3000, 0, 1);
    expect([space.rangeAt(0x1fff)?.end, space.rangeAt(0x2fff)?.end, space.rangeAt(0x3000)?.end]).toEqual([0x2000, 0x3000, 0x5000]);
    expect(0x4000 + space.deltaAt(space.find(0x4000))).toBe(0x3100);
  });

  it('keeps copies apart, but in one generation until one of them changes', () => {
    fc.assert(
      fc.property(fc.array(stepArbitrary, { maxLength: 15 }), fc.array(stepArbitrary, { minLength: 1, maxLength: 15 }), (before, after) => {
        const parent = new AddressSpace(new GenerationCounter());
        for (const step of before) apply(parent, step);
        const child = parent.clone();
        expect(child.generation).toBe(parent.generation);
        const kept = contents(parent);
        for (const step of after) apply(child, step);
        expect(contents(parent)).toEqual(kept);
        if (after.some((step) => step.length > 0)) expect(child.generation).not.toBe(parent.generation);
      }),
    );
  });

  it('has unrecorded code where nothing is mapped, also in copies', () => {
    const unrecorded = new RangeTree();
    unrecorded.put(0x1000, 0x4000, 1, 1);
    const space = new AddressSpace(new GenerationCounter());
    expect(space.isEmpty).toBe(true);
    const before = space.generation;
    space.unrecorded = unrecorded;
    expect([space.isEmpty, space.generation === before]).toEqual([false, false]);
    space.map(0x2000, 0x3000, 2, 2);
    space.putCode(0x3000, 0x3800, 3, 3);
    for (const one of [space, space.clone()]) {
      const found = [0x0, 0x1000, 0x2000, 0x3000, 0x3800, 0x4000].map((address) => {
        const at = one.find(address);
        return at < 0 ? undefined : [one.dsoAt(at), one.deltaAt(at)];
      });
      expect(found).toEqual([undefined, [1, 1], [2, 2], [3, 3], [1, 1], undefined]);
    }
    expect([...unrecorded]).toEqual([{ start: 0x1000, end: 0x4000, delta: 1, dso: 1 }]);
  });

  it('holds kernel addresses, which are negative', () => {
    const space = new AddressSpace(new GenerationCounter());
    space.map(-0x80000000, 0, 0, 7);
    expect(space.dsoAt(space.find(-1))).toBe(7);
    expect(space.find(-0x80000001)).toBe(-1);
    expect(space.find(0)).toBe(-1);
  });

  describe('with JIT code', () => {
    const BASE = 0x7f00_0000_0000;
    const look = (from: AddressSpace, address: number) => {
      const at = from.find(address);
      return at < 0 ? undefined : [from.dsoAt(at), from.deltaAt(at)];
    };

    it('finds it over maps, also in a copy, and gets a new generation with each change', () => {
      const space = new AddressSpace(new GenerationCounter());
      space.map(BASE, BASE + 0x2000, -BASE, 1);
      const before = space.generation;
      space.putCode(BASE + 0x100, BASE + 0x200, 5, 2);
      expect(space.generation).not.toBe(before);
      expect([BASE - 1, BASE + 0xff, BASE + 0x100, BASE + 0x1ff, BASE + 0x200].map((address) => look(space, address))).toEqual([
        undefined,
        [1, -BASE],
        [2, 5],
        [2, 5],
        [1, -BASE],
      ]);
      const copy = space.clone();
      space.removeCode(BASE, BASE + 0x1000);
      expect(look(space, BASE + 0x100)).toEqual([1, -BASE]);
      expect(look(copy, BASE + 0x100)).toEqual([2, 5]);
    });

    it('knows where each piece of it starts', () => {
      const space = new AddressSpace(new GenerationCounter());
      expect(space.startsCode(BASE)).toBe(false);
      space.putCode(BASE, BASE + 0x3000, 5, 2);
      space.putCode(BASE + 0x3000, BASE + 0x3010, 7, 2);
      expect([-1, 0, 1, 0x1000, 0x3000, 0x3010].map((offset) => space.startsCode(BASE + offset))).toEqual([false, true, false, false, true, false]);
    });
  });
});
