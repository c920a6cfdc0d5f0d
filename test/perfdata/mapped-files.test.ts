import { describe, expect, it } from 'vitest';
import { ByteView } from '../../src/base/bytes/byte-view.ts';
import { MappedFiles } from '../../src/perfdata/records/mapped-files.ts';

const LAYOUT = {};

function viewOf(...words: number[]): ByteView {
  return new ByteView(new Uint8Array(Uint32Array.from(words).buffer), true);
}

describe('MappedFiles', () => {
  it('reads equal bytes once, wherever they are', () => {
    const files = new MappedFiles<object>();
    const first = files.of(viewOf(1, 2, 3), 0, 12, LAYOUT, () => ({}));
    expect(files.of(viewOf(9, 1, 2, 3), 4, 16, LAYOUT, () => ({}))).toBe(first);
  });

  it('reads bytes again if they differ in one word, in length, or in their layout', () => {
    const files = new MappedFiles<number>();
    expect(files.of(viewOf(1, 2, 3), 0, 12, LAYOUT, () => 1)).toBe(1);
    expect(files.of(viewOf(1, 2, 4), 0, 12, LAYOUT, () => 2)).toBe(2);
    expect(files.of(viewOf(1, 2, 3), 0, 8, LAYOUT, () => 3)).toBe(3);
    expect(files.of(viewOf(1, 2, 3), 0, 12, {}, () => 4)).toBe(4);
  });

  it('tells ten thousand files apart, although it keeps fewer', () => {
    const files = new MappedFiles<number>();
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 10_000; i++) expect(files.of(viewOf(i, 7), 0, 8, LAYOUT, () => i)).toBe(i);
    }
  });

  it('keeps neither long names nor bytes that are not whole words', () => {
    const files = new MappedFiles<object>();
    const long = viewOf(...new Array(65).fill(1));
    for (const end of [260, 7]) expect(files.of(long, 0, end, LAYOUT, () => ({}))).not.toBe(files.of(long, 0, end, LAYOUT, () => ({})));
  });
});
