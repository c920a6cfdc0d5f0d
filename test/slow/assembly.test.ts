import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compile, MODULES } from '../../assembly/build.mjs';

describe('the WebAssembly among the sources', () => {
  it.each(Object.entries(MODULES))('of %s is what that compiles to', async (source, target) => {
    expect(readFileSync(new URL(`../../${target}`, import.meta.url), 'utf8')).toBe(await compile(source));
  });
});
