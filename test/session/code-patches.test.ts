import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AddressSpace, GenerationCounter } from '../../src/session/address-space.ts';
import { CodePatches } from '../../src/session/code-patches.ts';

const BASE = 0x7f00_0000_0000;

describe('CodePatches', () => {
  it('agree with a map of single addresses after any series of pieces over pieces, in pages and over their ends', () => {
    const step = fc.record({
      op: fc.constantFrom('put', 'put', 'put', 'remove'),
      start: fc.integer({ min: 4000, max: 8300 }),
      length: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(4096, 5000, 100_000)),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const patches = new CodePatches();
        const owners = new Map<number, number>();
        steps.forEach(({ op, start, length }, i) => {
          if (op === 'put') patches.put(BASE + start, BASE + start + length, i, i);
          else patches.remove(BASE + start, BASE + start + length);
          for (let at = start; at < Math.min(start + length, 8500); at++) {
            if (op === 'put') owners.set(at, i);
            else owners.delete(at);
          }
        });
        const copy = patches.clone();
        for (let at = 3990; at < 8500; at++) {
          if (patches.find(BASE + at)?.dso !== owners.get(at) || copy.find(BASE + at)?.delta !== owners.get(at)) expect(at).toBe('the same');
        }
      }),
    );
  });

  it('forget code in maps of any size, and are no matter to their copies', () => {
    const patches = new CodePatches();
    patches.put(BASE, BASE + 100, 0, 1);
    const copy = patches.clone();
    patches.put(BASE + 10, BASE + 20, 0, 2);
    expect([patches.find(BASE + 10)?.dso, copy.find(BASE + 10)?.dso]).toEqual([2, 1]);
    patches.remove(0, 2 ** 52);
    expect([patches.find(BASE), copy.find(BASE)?.dso]).toEqual([undefined, 1]);
  });
});

describe('code in an address space', () => {
  it('lies over maps, in a copy, too, and each change of it has a generation', () => {
    const space = new AddressSpace(new GenerationCounter());
    space.map(BASE, BASE + 0x2000, -BASE, 1);
    const before = space.generation;
    space.putCode(BASE + 0x100, BASE + 0x200, 5, 2);
    expect(space.generation).not.toBe(before);
    const look = (from: AddressSpace, address: number) => {
      const at = from.find(address);
      return at < 0 ? undefined : [from.dsoAt(at), from.deltaAt(at)];
    };
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
});
