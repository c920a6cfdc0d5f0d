import { describe, expect, it } from 'vitest';
import { ByteView } from '../../src/base/bytes/byte-view.ts';
import { findBuildId, isKnownBuildId, sameBuildId } from '../../src/elf/build-id.ts';
import { ByteFields } from '../support/builders/byte-fields.ts';

describe('build ids', () => {
  const sha1 = '0123456789abcdef0123456789abcdef01234567';

  it('are the same if all their bytes are', () => {
    expect(sameBuildId(sha1, sha1)).toBe(true);
    expect(sameBuildId(sha1, sha1.replace('7', '8'))).toBe(false);
  });

  it('are stored in 20 bytes: shorter ones are padded, longer ones cut', () => {
    expect(sameBuildId('0123456789abcdef', `0123456789abcdef${'0'.repeat(24)}`)).toBe(true);
    expect(sameBuildId(sha1, `${sha1}89abcdef0123456789abcdef`)).toBe(true);
    expect(sameBuildId(`${sha1}89abcdef0123456789abcdef`, sha1)).toBe(true);
    expect(sameBuildId('0123456789abcdef', `0123456789abcdef${'1'.repeat(48)}`)).toBe(false);
  });

  it('longer than 20 bytes are the same only if all their bytes are', () => {
    expect(sameBuildId(`${sha1}89`, `${sha1}89`)).toBe(true);
    expect(sameBuildId(`${sha1}89`, `${sha1}8a`)).toBe(false);
  });
});

describe('the build id among notes', () => {
  const NT_GNU_ABI_TAG = 1;
  const NT_GNU_BUILD_ID = 3;
  const NT_GNU_PROPERTY_TYPE_0 = 5;

  /** A note whose name and description are padded to `align` bytes. */
  function note(name: string, type: number, desc: readonly number[], align = 4): Uint8Array {
    const text = [...Buffer.from(`${name}\0`)];
    const padded = (bytes: readonly number[], from: number): number[] => [
      ...bytes,
      ...new Array<number>((align - ((from + bytes.length) % align)) % align).fill(0xff),
    ];
    return new ByteFields(true)
      .u32(text.length, desc.length, type)
      .bytes(...padded(text, 12), ...padded(desc, 0))
      .done();
  }

  const idOf = (notes: readonly Uint8Array[], align?: number): string | undefined => findBuildId(new ByteView(Buffer.concat(notes), true), align);
  const own = note('GNU', NT_GNU_BUILD_ID, [0xab, 0xcd, 0xef]);

  it('is found behind notes of other types and owners, whose names and contents are padded', () => {
    const others = [note('GNU', NT_GNU_ABI_TAG, [0, 0, 0, 0]), note('Xen', NT_GNU_BUILD_ID, [1, 2, 3, 4, 5]), note('OpenBSD', NT_GNU_BUILD_ID, [])];
    expect(idOf([...others, own])).toBe('abcdef');
    expect(idOf(others)).toBeUndefined();
  });

  it('is found behind notes that are aligned to 8 bytes, if their section is', () => {
    const property = note('GNU', NT_GNU_PROPERTY_TYPE_0, [2, 0, 0, 0xc0], 8);
    expect(idOf([property, own], 8)).toBe('abcdef');
    expect(idOf([property, own])).toBeUndefined();
    expect(idOf([note('GNU', NT_GNU_ABI_TAG, [1, 2, 3, 4]), own], 16)).toBe('abcdef');
  });

  it('is the first one with bytes', () => {
    expect(idOf([note('GNU', NT_GNU_BUILD_ID, []), own, note('GNU', NT_GNU_BUILD_ID, [1])])).toBe('abcdef');
  });

  it('is none if it reaches beyond the notes', () => {
    const whole = new Uint8Array(own.slice(0, 12 + 4 + 3));
    expect(idOf([whole])).toBe('abcdef');
    expect(idOf([whole.slice(0, -1)])).toBeUndefined();
    expect(idOf([whole.slice(0, 8)])).toBeUndefined();
  });
});

it('a build id of zeros or of nothing tells nothing', () => {
  expect(['0a', '0', '00000000', '', 'not hex'].map(isKnownBuildId)).toEqual([true, false, false, false, false]);
});
