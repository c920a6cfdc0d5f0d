import { describe, expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/diagnostics.ts';
import { ProfileBuilder } from '../../src/profile/builder.ts';
import { AddressSpace, GenerationCounter } from '../../src/session/address-space.ts';
import type { CallchainTable } from '../../src/session/callchains.ts';
import { FrameResolver } from '../../src/session/frames.ts';
import type { Kernels } from '../../src/session/kernels.ts';
import { LastStack } from '../../src/session/last-stacks.ts';
import { UnwoundStack } from '../../src/unwind/unwound-stack.ts';

const MAP = 0x7f00_0000_0000;
const MAP_BYTES = 0x1000_0000;
const [FILE, JIT_CODE] = [0, 1];

/** Looks up callers of stacks of two frames. */
class Callers {
  readonly #profile = new ProfileBuilder(false);
  readonly #frames: FrameResolver;

  constructor(compatPerf = false) {
    const rules = { maxStack: Number.POSITIVE_INFINITY, compatPerf, callersAreCalls: false, showsCutAsPerf: false, leafIsSampleIp: false };
    this.#frames = new FrameResolver({} as CallchainTable, { generation: 0, find: () => -1 } as unknown as Kernels, this.#profile, rules, new Diagnostics());
  }

  /** The DSO and the address in it of a caller that has a site. */
  of(address: number, site: number, space: AddressSpace): readonly [dso: number, address: number] {
    const { locations, stacks } = this.#profile;
    const unwound = new UnwoundStack();
    unwound.addCalls(Float64Array.of(MAP, address), Uint32Array.of(0, site), 0, 2);
    const stack = this.#frames.unwoundStackOf(unwound, false, 0, space, new LastStack());
    const location = stacks.location(stacks.parent(stack));
    return [locations.mapping(location), locations.addressLo(location)];
  }
}

function spaceAt(start: number, generations: GenerationCounter): AddressSpace {
  const space = new AddressSpace(generations);
  space.map(start, start + MAP_BYTES, -start, FILE);
  return space;
}

describe('the location of a caller at a site', () => {
  test('is the same wherever its file is mapped, and another one for each site', () => {
    const generations = new GenerationCounter();
    const spaces = [MAP, MAP + 0x2000_0000].map((start) => ({ start, space: spaceAt(start, generations) }));
    const callers = new Callers();
    // There are more sites than are remembered: those that are 2^18 apart share a place.
    for (const site of [1, 1023, 1024, 70_000, 2 ** 18 - 1, 2 ** 18 + 1, 2 ** 18 + 1023, 2 ** 31 + 1, 1, 1023, 2 ** 18 - 1]) {
      const at = 0x100 + (site % 0xffff) * 16;
      for (const { start, space } of spaces) expect({ site, found: callers.of(start + at, site, space) }).toEqual({ site, found: [FILE, at] });
    }
  });

  test('is not asked for where a JIT’s code may be: what is put on a stack to be run next is its first byte', () => {
    const generations = new GenerationCounter();
    const end = MAP + MAP_BYTES;
    const jit = spaceAt(MAP, generations);
    jit.putCode(end, end + 0x100, -end, JIT_CODE);
    const callers = new Callers();
    expect(callers.of(end, 1, spaceAt(MAP, generations))).toEqual([FILE, MAP_BYTES]);
    expect(callers.of(end, 1, jit)).toEqual([JIT_CODE, 0]);
  });

  test('is not asked for where perf is followed, which takes files to be elsewhere', () => {
    const generations = new GenerationCounter();
    const callers = new Callers(true);
    const other = new AddressSpace(generations);
    other.map(MAP, MAP + MAP_BYTES, 0x1000 - MAP, FILE);
    expect(callers.of(MAP + 0x10, 1, spaceAt(MAP, generations))).toEqual([FILE, 0xf]);
    expect(callers.of(MAP + 0x10, 1, other)).toEqual([FILE, 0x100f]);
  });
});
