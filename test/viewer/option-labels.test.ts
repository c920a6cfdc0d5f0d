import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { OPTION_LABELS } from '../../viewer/converter/option-labels.ts';

const page = readFileSync(new URL('../../viewer/converter/page.html', import.meta.url), 'utf8');

test('messages call options what the page calls them', () => {
  const form = page.slice(page.indexOf('<form id="options"')).split('</form>')[0];
  const shown = [...form.matchAll(/<label[^>]*>(.*?)<\/label>/g)].map(([, label]) => [
    /name="(\w+)"/.exec(label)?.[1],
    label.replace(/<select.*|<[^>]+>/g, '').trim(),
  ]);
  expect(new Map(shown as [string, string][])).toEqual(OPTION_LABELS);
});
