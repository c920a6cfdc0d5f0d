import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compile, TARGET } from '../../assembly/build.mjs';

describe('the WebAssembly among the sources', () => {
  it('is what assembly/ compiles to', async () => {
    expect(readFileSync(new URL(`../../${TARGET}`, import.meta.url), 'utf8')).toBe(await compile());
  });
});
