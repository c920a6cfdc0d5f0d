import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { GOLDEN_PRODUCTS } from './support/golden-products.ts';

// Every file test/golden/NAME/PRODUCT holds what is made of fixtures/NAME.data; `npm run goldens` writes all of them anew.
// To add one, create it empty and do that. Look at the difference before you commit it: the goldens were compared with perf
// once, by hand, and are worth what is known of them.

const goldens = fileURLToPath(new URL('golden/', import.meta.url));
const fixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));

const cases = readdirSync(goldens, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name: recording }) => readdirSync(join(goldens, recording)).map((product) => [recording, product] as const));

test.each(cases)('%s/%s', async (recording, product) => {
  const name = `${recording}.data`;
  const text = await GOLDEN_PRODUCTS[product]({ name, bytes: readFileSync(join(fixtures, name)) });
  await expect(text).toMatchFileSnapshot(join(goldens, recording, product));
});

test('every recording and every product has a golden', () => {
  const recordings = readdirSync(fixtures).flatMap((name) => (name.endsWith('.data') ? [name.slice(0, -'.data'.length)] : []));
  expect([...new Set(cases.map(([recording]) => recording))].sort()).toEqual(recordings.sort());
  expect([...new Set(cases.map(([, product]) => product))].sort()).toEqual(Object.keys(GOLDEN_PRODUCTS).sort());
});
