import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import { writeFolded } from '../../src/writers/folded/folded.ts';
import { BROWSER_NAMES, hasNoBrowser, savedBy } from '../support/browsers/browser-page.ts';
import { openProfilePage } from '../support/browsers/profile-page.ts';
import { busySystem } from '../support/browsers/viewer-profiles.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';

/** main calls sort, which calls compare, and parse, which the kernel interrupts. */
const STACKS = buildProfile(
  [
    { timeNs: 0, period: 6, stack: ['main', 'sort', 'compare<int, char>'] },
    { timeNs: 1, period: 3, stack: ['main', 'parse', { name: 'asm_exc_page_fault', dso: '[kernel.kallsyms]' }] },
    { timeNs: 2, event: 'page-faults', period: 1, stack: ['main', 'parse'] },
  ],
  { meta: { inputName: 'runs/a:b.perf.data' } },
);

describe.each(BROWSER_NAMES)('what the page of -t html saves in %s', (browser) => {
  const it = test.skipIf(hasNoBrowser(browser, `saving from the page of -t html in ${browser}`));

  it('is a picture that the browser shows as the page does', async () => {
    await openProfilePage(browser, STACKS, async (view) => {
      const { clickBox, folder, page, settled } = view;
      await clickBox(2, 0.1);
      await page.fill('#search', 'comp');
      await settled();
      const { width } = await page.evaluate<{ width: number }>('document.querySelector("#canvas").getBoundingClientRect()');
      const { bytes, name } = await savedBy(view, () => page.locator('#saveSvg').press('Enter'));
      expect(name).toBe('a_b.perf.svg');
      const path = join(folder, 'saved.svg');
      writeFileSync(path, bytes);
      const picture = await page.context().newPage();
      await picture.goto(pathToFileURL(path).href);
      const boxes = await picture.evaluate<[string, number, boolean][]>(`[...document.querySelectorAll('g > g')].map((box) => {
        const [area, text] = [box.querySelector('rect').getBBox(), box.querySelector('text')?.getBBox()];
        const isInside = text !== undefined && text.x >= area.x && text.x + text.width <= area.x + area.width && text.y >= area.y - 2 && text.y + text.height <= area.y + area.height + 2;
        return [box.querySelector('title').textContent.split('\\n')[0], Math.round(area.width), isInside];
      })`);
      // The zoomed function has the whole width, and the graph that of the page.
      expect(boxes).toEqual(['all', 'main', 'sort', 'compare<int, char>'].map((box) => [box, Math.round(width) - 1, true]));
      expect(await picture.title()).toBe('runs/a:b.perf.data');
    });
  });

  it('is folded stacks, the same ones as -t folded writes', async () => {
    const profile = buildProfile(busySystem(4000, 40));
    const sink = new BufferSink();
    await writeFolded(profile, sink);
    await openProfilePage(browser, profile, async (view) => {
      const { page, settled } = view;
      await page.selectOption('#grouping', 'none');
      await settled();
      const { bytes, name } = await savedBy(view, () => page.locator('#saveFolded').click());
      expect([name, bytes.toString()]).toEqual(['perf.folded', sink.text()]);
    });
  });

  it('is of what is shown, and nothing can be saved if that is nothing', async () => {
    await openProfilePage(browser, STACKS, async (view) => {
      const { page, settled } = view;
      await page.locator('#table button', { hasText: 'sort' }).click();
      await page.locator('#focus').click();
      await settled();
      const { bytes } = await savedBy(view, () => page.locator('#saveFolded').click());
      expect(bytes.toString()).toBe('app;sort;compare<int, char> 6\n');
      await page.selectOption('#event', { label: 'page-faults' });
      await settled();
      expect([await page.isDisabled('#saveSvg'), await page.isDisabled('#saveFolded')]).toEqual([true, true]);
    });
  });
});
