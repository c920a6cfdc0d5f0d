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
});
