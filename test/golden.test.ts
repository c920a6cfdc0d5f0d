import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { GOLDEN_PRODUCTS } from './support/truth/golden-products.ts';

// Each file test/golden/NAME/PRODUCT is what perfconv makes from fixtures/NAME.data; `npm run goldens` rewrites them.
// To add one, create it empty and run that. Read the diff before you commit it: a golden file is worth only as much as what
// was checked by hand, against perf, when it was made.

const goldens = fileURLToPath(new URL('golden/', import.meta.url));
const fixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));

const cases = readdirSync(goldens, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name: recording }) => readdirSync(join(goldens, recording)).map((product) => [recording, product] as const));

test.each(cases)('the golden file %s/%s is what perfconv makes from the fixture', async (recording, product) => {
  const name = `${recording}.data`;
  const text = await GOLDEN_PRODUCTS[product]({ name, bytes: readFileSync(join(fixtures, name)) });
  await expect(text).toMatchFileSnapshot(join(goldens, recording, product));
});

test('every fixture and every product has a golden file', () => {
  const recordings = readdirSync(fixtures).flatMap((name) => (name.endsWith('.data') ? [name.slice(0, -'.data'.length)] : []));
  expect([...new Set(cases.map(([recording]) => recording))].sort()).toEqual(recordings.sort());
  expect([...new Set(cases.map(([, product]) => product))].sort()).toEqual(Object.keys(GOLDEN_PRODUCTS).sort());
});
