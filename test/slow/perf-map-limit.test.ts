import { expect, it } from 'vitest';
import { type PerfMap, readPerfMap } from '../../src/symbolizer/jit/perf-map.ts';

/** `name+offset` of the symbol that is found at an address. */
function at({ table }: PerfMap, address: number): string | undefined {
  const index = table.find(address);
  return index < 0 ? undefined : `${table.name(index)}+${address - table.start(index)}`;
}

it('a perf map keeps all functions that have code, however many entries it has, and reports when they are too many', async () => {
  /** A file of `count` entries, made while it is read. */
  const made = (count: number, line: (i: number) => string) => {
    let next = 0;
    let rest = new Uint8Array();
    return {
      name: 'perf-1.map',
      sizeBytes: 2 ** 40,
      readAt: async (_: number, target: Uint8Array) => {
        if (rest.length === 0) {
          const lines: string[] = [];
          for (let i = 0; i < 5000 && next < count; i++) lines.push(`${line(next++)}\n`);
          rest = new TextEncoder().encode(lines.join(''));
        }
        const part = rest.subarray(0, target.length);
        target.set(part);
        rest = rest.subarray(part.length);
        return part.length;
      },
      close: async () => {},
    };
  };
  // V8 lists a function again each time it moves it.
  const moved = await readPerfMap(made(2_200_000, (i) => `${(0x1000 + 16 * (i % 1000)).toString(16)} 10 f${i}`));
  expect([moved.leftOut, at(moved, 0x1000)]).toEqual(['', 'f2199000+0']);
  const many = await readPerfMap(made(2_200_000, (i) => `${(0x1000 + 16 * i).toString(16)} 10 f${i}`));
  expect([many.leftOut, at(many, 0x1000 + 16 * 2_000_000)]).toEqual(['only its first 2097152 functions that have code are used', 'f2000000+0']);
});
