import { describe, expect, test } from 'vitest';
import { BROWSER_NAMES, hasNoBrowser } from '../support/browsers/browser-page.ts';
import { openProfilePage } from '../support/browsers/profile-page.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';
import { mergeProfiles } from '../support/merge-profiles.ts';

/** A thread of its own for each sample, all of one process; the first ones are the heaviest. */
const THREADS = buildProfile(Array.from({ length: 500 }, (_, nth) => ({ timeNs: nth, pid: 1, tid: nth + 1, period: 1000 - nth, stack: ['main'] })));

/** main calls sort, which calls compare, and parse. */
const STACKS = buildProfile([
  { timeNs: 0, period: 6, stack: ['main', 'sort', 'compare'] },
  { timeNs: 1, period: 3, stack: ['main', 'parse'] },
]);

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

  it('opens the box of what is too small to be drawn, with the pointer and with keys', async () => {
    const small = Array.from({ length: 5 }, (_, nth) => ({ timeNs: nth + 1, period: 5 - nth, stack: ['main', `small_${nth}`, 'leaf'] }));
    const profile = buildProfile([{ timeNs: 0, period: 1_000_000, stack: ['main', 'large'] }, ...small]);
    await openProfilePage(browser, profile, async ({ clickBox, page, settled, texts }) => {
      const openWithKeys = async (): Promise<void> => {
        await page.locator('#canvas').focus();
        for (const key of ['Home', 'ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
        expect(await texts('#details > span')).toEqual([
          '5 functions too small to be drawn',
          expect.stringMatching(/^(Click|Press) to see them/),
          expect.any(String),
        ]);
        await page.keyboard.press('Enter');
        await settled();
      };
      await openWithKeys();
      expect(await texts('#path button')).toEqual(['all', 'main', 'smaller ones', '✕ Reset zoom']);
      expect(await texts('#details > span')).toEqual(['5 smaller functions', expect.stringContaining('<0.01% of the box above')]);
      await clickBox(3, 0.1);
      expect(await texts('#path [aria-current]')).toEqual(['small_0']);
      await page.evaluate('history.back()');
      await page.waitForFunction('document.querySelector("#path [aria-current]").textContent === "smaller ones"');
      await page.locator('#canvas').focus();
      await page.keyboard.press('Backspace');
      await settled();
      expect(await texts('#path [aria-current]')).toEqual(['main']);
    });
  });

  it('has one stop of the Tab key for all rows of a table, and other keys that lead from row to row', async () => {
    const many = buildProfile(Array.from({ length: 120 }, (_, nth) => ({ timeNs: nth, period: 1000 - nth, stack: ['main', `f${nth}`] })));
    await openProfilePage(browser, many, async ({ page, settled }) => {
      const focused = (): Promise<string> => page.evaluate<string>('document.activeElement.textContent');
      const press = async (...keys: readonly string[]): Promise<string> => {
        for (const key of keys) await page.keyboard.press(key);
        return await focused();
      };
      await page.locator('#table th button').last().focus();
      expect(await press('Tab')).toBe('f0');
      expect(await press('Tab')).toBe('Show 21 more');
      expect(await press('Shift+Tab', 'ArrowDown', 'ArrowDown')).toBe('f2');
      expect(await press('ArrowUp')).toBe('f1');
      expect(await press('End', 'ArrowDown')).toBe('f99');
      const [, page1] = /^f(\d+)$/.exec(await press('Home', 'PageDown'))!;
      expect(Number(page1)).toBeGreaterThan(5);
      expect(await press('PageUp')).toBe('f0');
      // It comes back to where it was, and to what is chosen.
      expect(await press('ArrowDown', 'Tab', 'Shift+Tab')).toBe('f1');
      await page.locator('#table td button', { hasText: 'f7' }).first().click();
      await page.locator('#table th button').last().focus();
      expect(await press('Tab')).toBe('f7');
      await page.locator('#neighbors td button').first().click();
      await settled();
      expect(await press('Tab', 'Tab')).toBe('f0');
      expect(await press('ArrowDown')).toBe('f1');
      expect(await press('Tab')).toBe('Show 70 more');
      // No heading covers the row.
      await press('Shift+Tab');
      await page.locator('#table td button').first().focus();
      await press('End');
      const hidden = 'document.querySelector("#table thead").getBoundingClientRect().bottom - document.activeElement.getBoundingClientRect().top';
      for (let step = 0; step < 60; step++) {
        await press('ArrowUp');
        expect(await page.evaluate<number>(hidden)).toBeLessThanOrEqual(0);
      }
    });
  });

  it('compares a recording with another one, the largest changes first', async () => {
    const [base, other] = [
      { main: 20, sort: 60, write: 20 },
      { main: 20, sort: 20, hash: 60 },
    ].map((self) =>
      buildProfile(
        Object.entries(self).map(([name, period], timeNs) => ({ timeNs, period: period * 1000, stack: name === 'main' ? ['main'] : ['main', name] })),
      ),
    );
    const merged = mergeProfiles([
      { profile: base, label: 'old.data' },
      { profile: other, label: 'new.data' },
    ]);
    await openProfilePage(browser, merged, async ({ page, rows, settled, texts }) => {
      const headings = (): Promise<string[]> => page.locator('#table th:visible').allTextContents();
      expect(await headings()).not.toContain('Change');
      await page.selectOption('#compared', { label: 'old.data' });
      await settled();
      expect((await texts('#path button'))[0]).toBe('new.data');
      expect(await headings()).toEqual(['Self', 'Self %', 'Change', 'Total', 'Total %', 'Function', 'Binary']);
      expect((await rows()).map((row) => `${row[5]} ${row[2]}`)).toEqual(['hash +60.00', 'sort -40.00', 'write -20.00', 'main 0']);
      expect(await texts('#legend li')).toEqual(['Larger share than in old.data', 'The same', 'Smaller']);
      await page.setViewportSize({ width: 375, height: 800 });
      expect(await headings()).toEqual(['Self', 'Self %', 'Change', 'Function']);
      await page.setViewportSize({ width: 1600, height: 1200 });
      await page.locator('#table td button', { hasText: 'write' }).click();
      expect(await texts('#neighbors p')).toEqual([
        ...['/bin/app', 'self 0 (0%) · 20.0% in old.data (-20.00 points)', 'total 0 (0%) · 20.0% in old.data (-20.00 points)'],
        'None of the samples shown has it.',
      ]);
      await page.selectOption('#scope', { index: 0 });
      await settled();
      expect(await page.inputValue('#compared')).toBe('-1');
      expect(await headings()).not.toContain('Change');
      expect((await rows()).map((row) => row[4])).toEqual(['sort', 'hash', 'main', 'write']);
    });
    await openProfilePage(browser, STACKS, async ({ page }) => expect(await page.locator('#compared').isVisible()).toBe(false));
  });

  it('goes back and forth, and shows by its address what was shown', async () => {
    await openProfilePage(browser, STACKS, async ({ clickBox, page, rows, settled, texts }) => {
      const shown = async (): Promise<string> => {
        await settled();
        return `${(await texts('#path [aria-current]'))[0]}, ${await page.inputValue('#search')}, ${(await texts('h2'))[0] ?? 'none'}, ${(await rows()).length}`;
      };
      await clickBox(2, 0.1);
      expect(await shown()).toBe('sort, , sort, 4');
      await page.keyboard.press('/');
      await page.keyboard.type('comp');
      expect(await shown()).toBe('sort, comp, sort, 1');
      await page.locator('input[value=callers]').check();
      await clickBox(1, 0.1);
      await clickBox(2, 0.1);
      expect(await shown()).toBe('sort, comp, sort, 1');
      const address = page.url();
      for (const expected of ['compare, comp, compare, 1', 'all, comp, sort, 1', 'sort, comp, sort, 1', 'sort, , sort, 4', 'all, , none, 4']) {
        await page.evaluate('history.back()');
        await page.waitForTimeout(100);
        expect(await shown()).toBe(expected);
      }
      await page.evaluate('history.forward()');
      await page.waitForTimeout(100);
      expect(await shown()).toBe('sort, , sort, 4');
      // In another window.
      await page.goto('about:blank');
      await page.goto(address);
      await page.locator('body[data-ready]').waitFor();
      expect(await shown()).toBe('sort, comp, sort, 1');
      expect(await page.isChecked('input[value=callers]')).toBe(true);
      // Of what makes no sense, nothing is shown, and it is no step that one could not go back from.
      await page.goto(address.replace(/#.*/, '#event=9&threads=thread-77&function=1e9&zoom=zz.zz&panes=table'));
      await page.waitForTimeout(100);
      expect([await shown(), new URL(page.url()).hash]).toEqual(['all, , none, 4', '#panes=table']);
      await page.evaluate('history.back()');
      await page.waitForTimeout(100);
      expect(await shown()).toBe('sort, comp, sort, 1');
    });
  });

  it('shows a function alone, with what it calls and what calls it', async () => {
    await openProfilePage(browser, STACKS, async ({ clickBox, page, rows, settled, texts }) => {
      await page.locator('#table button', { hasText: 'sort' }).click();
      await page.locator('#focus').click();
      await settled();
      expect(await texts('#path button')).toEqual(['stacks with sort', '✕ Remove focus']);
      expect((await texts('#details .numbers'))[0]).toBe('6 ns (66.7%)');
      await clickBox(2, 0.9);
      expect(await texts('#path button')).toEqual(['stacks with sort', 'sort', 'compare', '✕ Reset zoom', '✕ Remove focus']);
      expect((await texts('#details .numbers'))[0]).toBe('total 6 ns (66.7%) · self 6 ns (66.7%) · 100% of the box above');
      await page.locator('input[value=callers]').check();
      await clickBox(2, 0.9);
      expect(await texts('#path button')).toEqual(['stacks with sort', 'sort', 'main', '✕ Reset zoom', '✕ Remove focus']);
      expect(await rows()).toHaveLength(4);
      await page.keyboard.press('Escape');
      expect(await texts('#path button')).toEqual(['stacks with sort', '✕ Remove focus']);
      await page.keyboard.press('Escape');
      expect(await texts('#path button')).toEqual(['all']);
      await page.evaluate('history.back()');
      await page.waitForTimeout(100);
      await settled();
      expect(await texts('#path button')).toEqual(['stacks with sort', '✕ Remove focus']);
    });
  });

  it('takes what a link searches for as a text, however much it looks like an expression, and however long it is', async () => {
    const [name, part] = ['a'.repeat(60_000), 'a'.repeat(15_000)];
    const stacks = [...Array.from({ length: 40 }, (_, nth) => `${name}${nth}`), 'std::vector<(a+)+$>'];
    await openProfilePage(browser, buildProfile(stacks.map((one, timeNs) => ({ timeNs, stack: [one] }))), async ({ page, rows, settled }) => {
      const found = async (search: string): Promise<number> => {
        await page.goto(page.url().replace(/#.*|$/, `#${new URLSearchParams({ search })}`));
        await page.waitForTimeout(100);
        await settled();
        expect(await page.inputValue('#search')).toBe(search);
        return (await rows()).length;
      };
      expect([await found('(A+)+$'), await found(`${part}b${part}`), await found(`${part}39`)]).toEqual([1, 0, 1]);
    });
  });

  it('gives the graph more or less of the window, by mouse and keys', async () => {
    await openProfilePage(browser, STACKS, async ({ clickBox, page, settled, texts }) => {
      const heights = async (): Promise<number[]> => {
        await settled();
        return await page.evaluate<number[]>(`['#graph', '#canvas', '#functions'].map((one) => document.querySelector(one).getBoundingClientRect().height)`);
      };
      const divider = page.locator('#divider');
      const [graph, canvas, functions] = await heights();
      const { x, y } = (await divider.boundingBox())!;
      await page.mouse.move(x + 300, y);
      await page.mouse.down();
      await page.mouse.move(x + 300, y - 100, { steps: 4 });
      await page.mouse.up();
      await page.mouse.move(x + 300, y - 300);
      const moved = await heights();
      expect(moved.map((height, at) => Math.round(height - [graph, canvas, functions][at]))).toEqual([-100, -100, 100]);
      // What is drawn has the new height, too.
      await clickBox(2, 0.1);
      expect(await texts('#path [aria-current]')).toEqual(['sort']);
      await divider.focus();
      await page.keyboard.press('ArrowUp');
      expect((await heights())[0]).toBeLessThan(moved[0]);
      await page.keyboard.press('End');
      expect([await divider.getAttribute('aria-valuenow'), (await heights())[2] >= 90]).toEqual(['90', true]);
      // Playwright's double clicks are two single ones in Firefox.
      await divider.dispatchEvent('dblclick');
      expect((await heights()).map(Math.round)).toEqual([graph, canvas, functions].map(Math.round));
      await page.locator('input[value=table]').check();
      expect(await divider.isVisible()).toBe(false);
    });
  });

  it('gives the table more or less of the width, and keeps both lines where they are when it is loaded again', async () => {
    await openProfilePage(browser, STACKS, async ({ page, settled }) => {
      const widths = async (): Promise<number[]> => {
        await settled();
        return await page.evaluate<number[]>(`['.table', '#neighbors'].map((one) => Math.round(document.querySelector(one).getBoundingClientRect().width))`);
      };
      const divider = page.locator('#side-divider');
      const [table, neighbors] = await widths();
      const { x, y } = (await divider.boundingBox())!;
      await page.mouse.move(x, y + 20);
      await page.mouse.down();
      await page.mouse.move(x - 100, y + 40, { steps: 4 });
      await page.mouse.up();
      expect(await widths()).toEqual([table - 100, neighbors + 100]);
      await page.locator('#divider').press('Home');
      await page.reload();
      expect(await widths()).toEqual([table - 100, neighbors + 100]);
      expect(await page.getAttribute('#divider', 'aria-valuenow')).toBe('15');
      await divider.press('ArrowRight');
      expect((await widths())[0]).toBeGreaterThan(table - 100);
      await page.setViewportSize({ width: 480, height: 800 });
      expect(await divider.isVisible()).toBe(false);
      const [all, below] = await widths();
      expect([all > 400, below]).toEqual([true, all]);
    });
  });

  it('has its lines in their first places where it may keep nothing, and where something else was kept', async () => {
    await openProfilePage(browser, STACKS, async ({ page, settled }) => {
      const divider = page.locator('#divider');
      await divider.press('Home');
      await page.evaluate(`sessionStorage.setItem('perfconv divider', '1e9')`);
      await page.evaluate(`sessionStorage.setItem('perfconv side-divider', 'wide')`);
      await page.reload();
      await settled();
      expect(await divider.getAttribute('aria-valuenow')).toBe('90');
      expect(await page.getAttribute('#side-divider', 'aria-valuenow')).toBe('60');
      // As in a frame without an origin.
      await page.addInitScript(`Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('refused'); } })`);
      await page.reload();
      await settled();
      expect(await divider.getAttribute('aria-valuenow')).toBe('60');
      await divider.press('ArrowUp');
      expect(await divider.getAttribute('aria-valuenow')).toBe('58');
    });
  });
});
