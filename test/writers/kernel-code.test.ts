import { expect, test } from 'vitest';
import { CPUMODE_GUEST_KERNEL, CPUMODE_GUEST_USER, CPUMODE_KERNEL, CPUMODE_UNKNOWN, CPUMODE_USER } from '../../src/profile/location-table.ts';
import type { MappingKind } from '../../src/profile/profile.ts';
import { isKernelCode } from '../../src/writers/kernel-code.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';

test.each<[MappingKind | undefined, number, boolean]>([
  ['kernel', CPUMODE_KERNEL, true],
  [undefined, CPUMODE_KERNEL, true],
  ['guest', CPUMODE_GUEST_KERNEL, true],
  ['guest', CPUMODE_GUEST_USER, false],
  ['kernel', CPUMODE_UNKNOWN, true],
  ['module', CPUMODE_UNKNOWN, true],
  ['file', CPUMODE_USER, false],
  ['vdso', CPUMODE_USER, false],
  [undefined, CPUMODE_USER, false],
])('whether a location in a mapping of kind %s with cpumode %d is kernel code: %s', (kind, cpumode, expected) => {
  const profile = buildProfile([{ timeNs: 0, stack: ['main'] }]);
  const mappings = profile.mappings.map((mapping) => ({ ...mapping, kind: kind ?? mapping.kind }));
  const location = profile.locations.intern(kind === undefined ? -1 : 0, 1, 0, cpumode, false);
  expect(isKernelCode({ ...profile, mappings }, location)).toBe(expected);
});
