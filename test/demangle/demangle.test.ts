import { describe, expect, it } from 'vitest';
import { PerfconvError } from '../../src/base/problems/errors.ts';
import { type DemangleStyle, demangle } from '../../src/demangle/demangle.ts';

describe('demangle', () => {
  it.each(['bogus', 'none', 'constructor'])('refuses %s, which is not a style, for any name', (style) => {
    for (const name of ['_ZN3fooIiE3barEv', 'main']) {
      expect(() => demangle(name, style as DemangleStyle)).toThrow(
        new PerfconvError('usage', `${style}: unknown style; expected one of full, no-params, simple`),
      );
    }
  });

  it.each([5, undefined, null, ['_Z1fv']])('refuses %s, which is not a string', (name) => {
    expect(() => demangle(name as unknown as string)).toThrow(new PerfconvError('usage', `the name to demangle is of type ${typeof name}: expected a string`));
  });
});
