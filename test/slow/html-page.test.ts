import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compilePage, TARGET } from '../../viewer/build.mjs';

test(`${TARGET} is what viewer/ becomes: npm run generate`, async () => {
  expect(readFileSync(new URL(`../../${TARGET}`, import.meta.url), 'utf8')).toBe(await compilePage());
});
