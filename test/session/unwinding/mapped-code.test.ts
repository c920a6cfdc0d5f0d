import { describe, expect, test } from 'vitest';
import { AddressSpace, GenerationCounter } from '../../../src/session/processes/address-space.ts';
import type { Dso } from '../../../src/session/processes/dsos.ts';
import { MappedCode } from '../../../src/session/unwinding/mapped-code.ts';
import type { UnwindSegment } from '../../../src/session/unwinding/unwind-files.ts';
import { Unwinder } from '../../../src/unwind/unwinder.ts';
import { madeInput } from '../../support/builders/unwind/made-process.ts';
import { moduleOf } from '../../support/builders/unwind/unwound.ts';
import { CIE, code, fde, R12, RIP } from '../../support/builders/unwind/x86-64-functions.ts';

const SP = 0x7ffc_f000_1000;
const MAP = 0x7f00_0001_0000;
const MODULE = moduleOf('x86_64', [[CIE, [fde(0x1000, code().defCfa(R12, 8)), fde(0x1900, code().undefined(RIP))]]]);

/** A file that is mapped at {@link MAP} by default, from an offset in the file on. */
function mapped(segments: readonly UnwindSegment[], fileOffset = 0, at = MAP, compatPerf = false): { mapped: MappedCode; space: AddressSpace } {
  const space = new AddressSpace(new GenerationCounter());
  space.map(at, at + 0x10000, fileOffset - at, 0);
  const mappedCode = new MappedCode([{ kind: 'file', name: 'x' } as Dso], new Map(), compatPerf);
  mappedCode.setFile(0, { module: MODULE, segments });
  mappedCode.enter(space, 'x86_64');
  return { mapped: mappedCode, space };
}

describe('the extent of code around an address', () => {
  const WHOLE = [{ start: 0, end: 0x4000, delta: 0x1000 }];

  test('is what the map and the segment have in common', () => {
    const { mapped: file } = mapped([...WHOLE, { start: 0x5000, end: 0x9000, delta: 0x2000 }]);
    expect(file.extent(MAP + 0x10)).toEqual({ start: MAP, end: MAP + 0x4000 });
    expect(file.extent(MAP + 0x5010)).toEqual({ start: MAP + 0x5000, end: MAP + 0x9000 });
    expect(file.extent(MAP + 0x4010)).toBeUndefined();
    expect(file.extent(MAP + 0x10000)).toBeUndefined();
  });

  test('is unknown if segments share bytes', () => {
    const { mapped: file } = mapped([...WHOLE, { start: 0x3000, end: 0x6000, delta: 0x8000 }]);
    expect([0x10, 0x3010, 0x5010].map((at) => file.extent(MAP + at))).toEqual([undefined, undefined, undefined]);
  });

  test('is unknown while JIT code lies over the map', () => {
    const { mapped: file, space } = mapped(WHOLE);
    space.putCode(MAP + 0x20000, MAP + 0x20100, 0, 1);
    expect(file.extent(MAP + 0x10)).toBeDefined();
    space.putCode(MAP + 0x2000, MAP + 0x2100, 0, 1);
    expect(file.extent(MAP + 0x10)).toBeUndefined();
    space.removeCode(MAP + 0x2000, MAP + 0x2100);
    expect(file.extent(MAP + 0x10)).toBeDefined();
  });

  test('is unknown if file offsets are rounded', () => {
    const far = 2 ** 56;
    const { mapped: file } = mapped([{ start: far, end: far + 0x4000, delta: -far }], far);
    expect(file.extent(MAP + 0x1010)).toBeUndefined();
  });

  test('need not be known for stacks to end', () => {
    const { mapped: file } = mapped([
      { start: 0, end: 0x2000, delta: 0 },
      { start: 0x1000, end: 0x4000, delta: 0x8000 },
    ]);
    const unwinder = new Unwinder();
    const ends = [0x10, 0x3010, 0x1010].map((at) =>
      unwinder.unwind(madeInput({ machine: 'x86_64', registers: { ip: MAP + at, sp: SP, r12: SP }, stack: { 0: MAP + 0x1910 } }), file),
    );
    expect(ends).toEqual(['no-rule', 'no-rule', 'no-rule']);
  });
});

describe('with --compat perf, a file begins', () => {
  test('where its lowest map says, and a JIT function where its code begins in the file', () => {
    const jitted = [{ start: 0x80, end: 0x100, delta: 0 }];
    for (const at of [MAP, MAP + 0x110]) {
      const { mapped: file } = mapped(jitted, 0x80, at, true);
      expect([file.find(at + 5), file.bias]).toEqual(['found', at - 0x80]);
    }
  });

  test('at the same place if its first map was lost, since the next one tells its offset in the file', () => {
    const segments = [
      { start: 0, end: 0x800, delta: 0 },
      { start: 0x1000, end: 0x2000, delta: 0 },
    ];
    const { mapped: file, space } = mapped(segments, 0x1000, MAP + 0x1000, true);
    expect([file.find(MAP + 0x1010), file.bias]).toEqual(['found', MAP]);
    space.map(MAP, MAP + 0x1000, -MAP, 0);
    expect([file.find(MAP + 0x1010), file.bias]).toEqual(['found', MAP]);
  });

  test('too low by the offset of its first segment, as in perf', () => {
    const { mapped: file } = mapped([{ start: 0x1040, end: 0x2000, delta: 0x1000 }], 0x1000, MAP, true);
    expect([file.find(MAP + 0x50), file.bias]).toEqual(['found', MAP - 0x3000]);
  });
});

test('there is no code between the end of a segment and the end of its last page', () => {
  const { mapped: file } = mapped([{ start: 0, end: 0x3456, delta: 0x1000 }]);
  const found = [0x3455, 0x3456, 0x3fff, 0x4000].map((at) => [file.find(MAP + at), file.module]);
  expect(found).toEqual([
    ['found', MODULE],
    ['unmapped', undefined],
    ['unmapped', undefined],
    ['found', undefined],
  ]);
});
