import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compile, MODULES } from '../../assembly/build.mjs';

describe('the WebAssembly in the sources', () => {
  it.each(MODULES)('$target is what $source compiles to', async (module) => {
    expect(readFileSync(new URL(`../../${module.target}`, import.meta.url), 'utf8')).toBe(await compile(module));
  });
});
