import { describe, expect, it } from 'vitest';
import { sameBuildId } from '../../src/elf/build-id.ts';

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
