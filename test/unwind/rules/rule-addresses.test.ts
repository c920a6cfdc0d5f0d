import { describe, expect, it } from 'vitest';
import { RuleAddresses } from '../../../src/unwind/rules/rule-addresses.ts';

describe('RuleAddresses', () => {
  it('finds the rule of each address, however many there are and wherever the file is', () => {
    const addresses = new RuleAddresses();
    const svmas = Array.from({ length: 5000 }, (_, i) => (i % 2 === 0 ? i * 3 : 0x7f00_0000_0000 + i * 0x1000));
    for (const [i, svma] of svmas.entries()) addresses.add(svma, i - 2);
    expect(svmas.map((svma) => addresses.get(svma))).toEqual(svmas.map((_, i) => i - 2));
    expect(addresses.get(1)).toBeUndefined();
    expect(addresses.isFull).toBe(false);
  });

  it('knows none after they were forgotten', () => {
    const addresses = new RuleAddresses();
    addresses.add(0, 7);
    addresses.clear();
    expect(addresses.get(0)).toBeUndefined();
    addresses.add(0, 8);
    expect(addresses.get(0)).toBe(8);
  });
});
