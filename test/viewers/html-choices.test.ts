import { describe, expect, test } from 'vitest';
import { BROWSER_NAMES, hasNoBrowser } from '../support/browser-page.ts';
import { buildProfile } from '../support/build-profile.ts';
import { openProfilePage } from '../support/profile-page.ts';

/** A thread of its own for each sample, all of one process; the first ones are the heaviest. */
const THREADS = buildProfile(Array.from({ length: 500 }, (_, nth) => ({ timeNs: nth, pid: 1, tid: nth + 1, period: 1000 - nth, stack: ['main'] })));

describe.each(BROWSER_NAMES)('what one chooses on the page of -t html in %s', (browser) => {
  const it = test.skipIf(hasNoBrowser(browser, `choices on the page of -t html in ${browser}`));

  it('lists the heaviest threads of many, and more if asked', async () => {
    await openProfilePage(browser, THREADS, async ({ page, settled, texts }) => {
      // All, the process and 299 threads, and the rest.
      expect((await texts('#scope option')).length).toBe(1 + 300 + 1);
      expect((await texts('#scope option')).at(-1)).toBe('Show 201 more of 201 …');
      await page.selectOption('#scope', { index: 3 });
      await page.selectOption('#scope', { index: 301 });
      await settled();
      expect((await texts('#scope option')).length).toBe(1 + 1 + 500);
      expect(await page.evaluate('document.querySelector("#scope").selectedIndex')).toBe(3);
      expect(await texts('#path button')).toEqual(['app (2)']);
    });
  });
  it('shows where names begin that are too long, in whichever direction they are written', async () => {
    const names = ['\u05d0\u05d1_'.repeat(100), 'name_'.repeat(100)];
    const stacks = names.map((name, timeNs) => ({ timeNs, pid: 1, comm: names[0], stack: [name, 'leaf'] }));
    await openProfilePage(browser, buildProfile(stacks), async ({ page, texts }) => {
      await page.locator('#table button', { hasText: 'leaf' }).click();
      // Of each name in the lists: whether its first letter is within its cell.
      const begins = await page.evaluate<boolean[]>(`[...document.querySelectorAll('td.function span')].map((span) => {
        const first = document.createRange();
        first.setStart(span.firstChild, 0);
        first.setEnd(span.firstChild, 1);
        const [letter, cell] = [first.getBoundingClientRect(), span.closest('td').getBoundingClientRect()];
        return letter.left >= cell.left && letter.right <= cell.right;
      })`);
      expect(begins).toEqual(Array(5).fill(true));
      expect((await texts('#scope option'))[1]).toMatch(/\u200e {2}100%$/);
    });
  });
});
