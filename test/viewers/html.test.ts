import { describe, expect, test } from 'vitest';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { writeFolded } from '../../src/writers/folded/folded.ts';
import { BROWSER_NAMES, hasNoBrowser, type ViewerOptions } from '../support/browsers/browser-page.ts';
import { openProfilePage } from '../support/browsers/profile-page.ts';
import { busySystem, database } from '../support/browsers/viewer-profiles.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';
import { pageOf } from '../support/builders/profiles/page-recording.ts';
import { type HtmlView, withHtmlPage } from '../support/readers/html-page.ts';

const MS = 1_000_000;
/** main calls parse and sort; sort calls itself. */
const SMALL = buildProfile([
  { timeNs: 0, period: 600 * MS, stack: ['main', 'sort', 'sort', 'compare'] },
  { timeNs: 1, period: 300 * MS, stack: ['main', 'parse', { name: 'read', dso: '[kernel.kallsyms]' }] },
  { timeNs: 2, period: 100 * MS, tid: 101, comm: 'worker', stack: ['main', 'sort'] },
  { timeNs: 3, period: 42, event: 'page-faults', stack: ['main', 'parse'] },
]);

type Open = <T>(profile: Profile, use: (view: HtmlView) => Promise<T>, options?: ViewerOptions) => Promise<T>;

/** Of the page, the legend and the table. */
async function colorsOf({ page }: HtmlView): Promise<string[]> {
  return await page.evaluate('[document.body, ...document.querySelectorAll("#legend i, #table i")].map((one) => getComputedStyle(one).backgroundColor)');
}

/** By function: the weight of the lines of folded stacks that end in it, and of those that have it. */
async function foldedWeights(profile: Profile): Promise<Map<string, { self: number; total: number }>> {
  const sink = new BufferSink();
  await writeFolded(profile, sink, { marks: [] });
  const weights = new Map<string, { self: number; total: number }>();
  for (const line of sink.text().split('\n').slice(0, -1)) {
    const [, stack, weight] = /^(.*) (\d+)$/.exec(line)!;
    const frames = stack.split(';').slice(1);
    for (const frame of new Set(frames)) {
      const one = weights.get(frame) ?? { self: 0, total: 0 };
      one.total += Number(weight);
      if (frame === frames.at(-1)) one.self += Number(weight);
      weights.set(frame, one);
    }
  }
  return weights;
}

describe.each(BROWSER_NAMES)('the page of -t html in %s', (browser) => {
  const it = test.skipIf(hasNoBrowser(browser, `the page of -t html in ${browser}`));
  const open: Open = (...args) => openProfilePage(browser, ...args);

  it('opens from a file, with the numbers that folded stacks have', async () => {
    await open(SMALL, async ({ rows, texts }) => {
      const found = new Map((await rows()).map(([self, , total, , name]) => [name, `${self} ${total}`]));
      const ms = (ns: number): string => (ns === 0 ? '0' : ns >= 1e9 ? `${(ns / 1e9).toFixed(2)} s` : `${ns / MS} ms`);
      const expected = [...(await foldedWeights(SMALL))].map(([name, { self, total }]): [string, string] => [name, `${ms(self)} ${ms(total)}`]);
      expect(found).toEqual(new Map(expected));
      expect(await texts('#name')).toEqual(['perf.data']);
      expect(await texts('#summary')).toEqual(['3 ns recorded · 3 samples of cpu-clock · perf record -g ./app']);
      expect(await texts('#legend li')).toEqual(['User code 70.0%', 'Kernel 30.0%']);
      expect(await texts('#event option')).toEqual(['cpu-clock', 'page-faults']);
      expect((await texts('#scope option')).map((text) => text.replace(/\s+/g, ' ').trim())).toEqual([
        'All 100%',
        'app (100) 100%',
        'app (100) 90.0%',
        'worker (101) 10.0%',
      ]);
    });
  });

  it('zooms by clicks and keys, and leads back', async () => {
    await open(SMALL, async ({ clickBox, page, settled, texts }) => {
      expect(await texts('#path button')).toEqual(['all']);
      // Rows: all, main, sort and parse.
      await clickBox(2, 0.9);
      expect(await texts('#path button')).toEqual(['all', 'main', 'parse', '✕ Reset zoom']);
      expect((await texts('#details span')).slice(0, 1)).toEqual(['parse']);
      expect((await texts('#details .numbers'))[0]).toContain('total 300 ms (30.0%) · self 0 (0%)');
      await page.keyboard.press('Escape');
      expect(await texts('#path button')).toEqual(['all']);
      await page.locator('#canvas').focus();
      for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowLeft', 'ArrowDown']) await page.keyboard.press(key);
      expect((await texts('#details span')).slice(0, 1)).toEqual(['sort']);
      await page.keyboard.press('Enter');
      await settled();
      expect(await texts('#path button')).toEqual(['all', 'main', 'sort', 'sort', '✕ Reset zoom']);
      await page.keyboard.press('Backspace');
      expect(await texts('#path button')).toEqual(['all', 'main', 'sort', '✕ Reset zoom']);
      await page.locator('#path button', { hasText: 'all' }).click();
      expect(await texts('#path button')).toEqual(['all']);
    });
  });

  it('zooms to the box that was pressed after the graph was scrolled', async () => {
    const deep = buildProfile([{ timeNs: 0, stack: ['main', ...Array.from({ length: 200 }, (_, depth) => `f${depth}`)] }]);
    await open(deep, async ({ page, settled, texts }) => {
      await page.evaluate('document.querySelector("#scroller").scrollTop = 1500');
      await settled();
      const { x, y } = (await page.locator('#canvas').boundingBox())!;
      await page.mouse.move(x + 50, y + 110);
      await page.mouse.down();
      await settled();
      expect(await page.evaluate<number>('document.querySelector("#scroller").scrollTop')).toBe(1500);
      await page.mouse.up();
      expect((await texts('#path [aria-current]'))[0]).toBe(`f${(1500 + 100) / 20 - 2}`);
    });
  });

  it('shows the callers of a function however long its name is', async () => {
    const name = 'std::pair<const std::string, '.repeat(180);
    await open(buildProfile([{ timeNs: 0, stack: ['main', name, 'leaf'] }]), async ({ page }) => {
      await page.locator('#table tbody button', { hasText: 'std::pair' }).click();
      const [aside, callers] = await page.evaluate<[number, number]>(`[
        document.querySelector('aside').getBoundingClientRect().bottom,
        document.querySelector('#lists h3').getBoundingClientRect().bottom,
      ]`);
      expect(callers).toBeLessThan(aside);
    });
  });

  it('keeps the keyboard where it was used', async () => {
    await open(SMALL, async ({ clickBox, page, settled }) => {
      const focused = (): Promise<string> => page.evaluate('document.activeElement.tagName + " " + document.activeElement.textContent');
      const press = async (selector: string): Promise<string> => {
        await page.locator(selector).focus();
        await page.keyboard.press('Enter');
        await settled();
        return await focused();
      };
      await clickBox(3, 0.1);
      expect(await press('#path button:nth-of-type(2)')).toBe('BUTTON main');
      expect(await press('#path .reset')).toBe('BUTTON all');
      expect(await press('#table tbody button >> nth=0')).toMatch(/^BUTTON ./);
      const caller = await page.locator('#lists td button').first().textContent();
      expect(await press('#lists td button >> nth=0')).toBe(`H2 ${caller}`);
      expect(await press('#focus')).toBe('BUTTON Show all stacks in the graph');
      expect(await press('#path .reset >> nth=0')).toMatch(/^BUTTON (?:all|stacks)/);
      await page.setViewportSize({ width: 700, height: 500 });
      await settled();
      expect(await press('#canvas')).toMatch(/^CANVAS/);
    });
    const callers = Array.from({ length: 160 }, (_, nth) => ({ timeNs: nth, stack: [`f${nth}`, 'common'] }));
    await open(buildProfile(callers), async ({ page, settled, texts }) => {
      await page.locator('#more').focus();
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.closest("tr").rowIndex')).toBe(101);
      await page.locator('#table button', { hasText: 'common' }).click();
      await page.locator('#lists button', { hasText: 'Show 110 more' }).focus();
      await page.keyboard.press('Enter');
      await settled();
      expect(await page.evaluate('document.activeElement.closest("tr").rowIndex')).toBe(50);
      expect(await texts('#lists td.function')).toHaveLength(160);
    });
  });

  it('shows callers and callees of the function that was chosen', async () => {
    await open(SMALL, async ({ page, texts }) => {
      await page.locator('#table button', { hasText: 'sort' }).click();
      expect(await texts('#neighbors h2')).toEqual(['sort']);
      expect((await texts('#neighbors .numbers'))[0]).toBe('self 100 ms (10.0%) · total 700 ms (70.0%)');
      expect(await texts('#neighbors table')).toEqual(['Callers700 ms100%main600 ms85.7%sort', 'Callees600 ms85.7%sort600 ms85.7%compare']);
      expect(await texts('#table tr[aria-current] td.function')).toEqual(['sort']);
      await page.locator('#neighbors td button', { hasText: 'compare' }).click();
      expect(await texts('#neighbors h2')).toEqual(['compare']);
    });
  });

  it('has rows that are copied as lines, and that can be pressed beside a name', async () => {
    await open(SMALL, async ({ page, settled, texts }) => {
      const copied = await page.evaluate<string>('(getSelection().selectAllChildren(document.querySelector("#table tbody")), getSelection().toString())');
      const rows = await page.evaluate<string[][]>(
        '[...document.querySelectorAll("#table tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent))',
      );
      expect(copied.trimEnd().split('\n')).toEqual(rows.map((row) => row.join('\t')));
      const cell = await page.locator('#table tbody td.function').first().boundingBox();
      await page.mouse.click(cell!.x + cell!.width - 10, cell!.y + cell!.height / 2);
      await settled();
      expect(await texts('#chosen h2')).toEqual([rows[0][4]]);
      // WCAG 2.2, "Target Size (Minimum)": what can be pressed is 24 pixels from what is above and below it.
      const heights = await page.evaluate<number[]>(
        '[...document.querySelectorAll("td button")].map((one) => one.closest("tr").getBoundingClientRect().height)',
      );
      expect(Math.min(...heights)).toBeGreaterThanOrEqual(24);
    });
  });

  it('finds functions, and says which share of the weight matches', async () => {
    await open(SMALL, async ({ page, rows, settled, texts }) => {
      await page.keyboard.press('/');
      await page.keyboard.type('SORT');
      await settled();
      expect(await texts('#share')).toEqual(['70.0% match']);
      expect((await rows()).map(([, , , , name]) => name)).toEqual(['sort']);
      await page.keyboard.type('ed');
      await settled();
      expect([await texts('#share'), await texts('#count')]).toEqual([['0% match'], ['No function matches.']]);
      await page.keyboard.press('Escape');
      await settled();
      expect([await texts('#share'), (await rows()).length]).toEqual([[''], 5]);
    });
  });

  it('shows the chosen event, threads and weight, and sorts its table', async () => {
    await open(SMALL, async ({ page, rows, settled, texts }) => {
      await page.selectOption('#event', { label: 'page-faults' });
      expect(await rows()).toEqual([
        ['42', '100%', '42', '100%', 'parse', 'app'],
        ['0', '0%', '42', '100%', 'main', 'app'],
      ]);
      expect((await texts('#details .numbers'))[0]).toBe('42 page-faults (100%)');
      await page.selectOption('#event', { label: 'cpu-clock' });
      await page.selectOption('#scope', { index: 3 });
      expect((await rows()).map(([self, , , , name]) => `${name} ${self}`)).toEqual(['sort 100 ms', 'main 0']);
      await page.selectOption('#scope', { index: 0 });
      await page.selectOption('#weight', { label: 'Samples' });
      expect((await rows())[0]).toEqual(['1', '33.3%', '2', '66.7%', 'sort', 'app']);
      await page.locator('th button', { hasText: 'Function' }).click();
      expect((await rows()).map(([, , , , name]) => name)).toEqual(['compare', 'main', 'parse', 'read', 'sort']);
      expect(await page.locator('th[aria-sort]').getAttribute('aria-sort')).toBe('ascending');
      await page.selectOption('#grouping', 'thread');
      await page.locator('input[value=callers]').check();
      await settled();
      expect(await texts('#path button')).toEqual(['all']);
    });
  });

  it('begins with the callees of callers when it is turned over', async () => {
    await open(SMALL, async ({ clickBox, page, settled, texts }) => {
      await page.locator('input[value=callers]').check();
      await settled();
      await clickBox(1, 0.1);
      await clickBox(3, 0.1);
      expect(await texts('#path button')).toEqual(['all', 'compare', 'sort', 'sort', '✕ Reset zoom']);
    });
  });

  it('shows hostile names as text', async () => {
    const evil = '</script><script>document.title="run"</script><img src=x onerror="document.title=1"><b>';
    const names = [evil, '\u202egpj.exe', 'a\u2028b', '\udcff', '\ud800', '__proto__', 'x'.repeat(60_000)];
    const samples = names.map((name, timeNs) => ({ timeNs, pid: timeNs + 1, comm: name, stack: [{ name, dso: name, file: name, line: 1 }] }));
    const profile = buildProfile([...samples, { timeNs: 9, event: evil, stack: [evil] }], { meta: { inputName: evil, commandLine: [evil] } });
    await open(profile, async ({ clickBox, page, rows, settled }) => {
      await clickBox(2, 0.05);
      const shown = (await rows()).map(([, , , , name]) => name);
      expect(shown.sort()).toEqual([evil, '\\u202egpj.exe', 'a\\u2028b', '\\xff', '\\ud800', '__proto__', 'x'.repeat(500)].sort());
      await page.selectOption('#event', { label: evil.slice(0, 80) });
      await settled();
      expect(await page.title()).toBe(evil);
      expect(await page.evaluate<number>('document.querySelectorAll("img, b:not(#legend b), script:not(body > script)").length')).toBe(0);
    });
  });

  it('has room for the graph whatever the length of names', async () => {
    const long = 'name'.repeat(1000);
    await open(buildProfile([{ timeNs: 0, stack: [long] }], { meta: { inputName: long } }), async ({ page, settled }) => {
      const heightOf = async (selector: string): Promise<number> => (await page.locator(selector).boundingBox())!.height;
      expect(await heightOf('header')).toBeLessThan(150);
      const { x, y } = (await page.locator('#canvas').boundingBox())!;
      await page.mouse.move(x + 50, y + 30);
      await settled();
      expect(await heightOf('#tip')).toBeLessThan(250);
    });
  });

  it('opens profiles with a hundred thousand nodes, and those with a single function', async () => {
    let seed = 1;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 48271) >>> 0) % 0x7fffffff;
      return seed % below;
    };
    const large = buildProfile(
      Array.from({ length: 8000 }, (_, timeNs) => ({
        timeNs,
        stack: Array.from({ length: 25 }, (__, depth) => `function_${depth < 5 ? random(3) : random(900)}`),
      })),
    );
    await open(large, async ({ clickBox, page, settled, texts }) => {
      expect(await texts('#count')).toEqual(['100 of 900 functions']);
      await page.locator('#more').click();
      expect(await texts('#count')).toEqual(['500 of 900 functions']);
      await page.locator('#table td button').first().click();
      await page
        .locator('#neighbors button', { hasText: / more$/ })
        .first()
        .click();
      expect(await page.locator('#neighbors table').first().locator('tr').count()).toBeGreaterThan(50);
      // Long lists scroll where they are, and the page stays in its window.
      expect(await page.evaluate<number>('document.documentElement.scrollHeight - innerHeight')).toBe(0);
      await clickBox(1, 0.1);
      await page.locator('input[value=callers]').check();
      await settled();
    });
    await open(buildProfile([{ timeNs: 0, stack: ['main'] }]), async ({ texts }) => expect(await texts('#count')).toEqual(['1 function']));
    await open(buildProfile(busySystem(20_000, 40)), async ({ texts }) => expect((await texts('#scope option')).length).toBeGreaterThan(40));
    await open(buildProfile(database()), async ({ texts }) => expect(await texts('#grouping option')).toHaveLength(4));
  });

  it('is dark where the browser is', async () => {
    const colorsIf = (isDark: boolean): Promise<string[]> => open(SMALL, colorsOf, { isDark });
    const [light, dark] = [await colorsIf(false), await colorsIf(true)];
    expect(dark.map((color, at) => color === light[at])).toEqual(light.map(() => false));
  });

  it('is no wider than a small window, and has everything in it', async () => {
    for (const width of [320, 480, 760, 761]) {
      const window = { width, height: 480, scale: 1 };
      await open(
        SMALL,
        async ({ clickBox, page, rows, texts }) => {
          expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'), `${width}`).toBeLessThanOrEqual(0);
          await clickBox(2, 0.9);
          expect(await texts('#path button')).toEqual(['all', 'main', 'parse', '✕ Reset zoom']);
          expect(await rows()).toHaveLength(5);
          await page.locator('#table button', { hasText: 'sort' }).click();
          expect(await texts('#neighbors h2')).toEqual(['sort']);
        },
        { window },
      );
    }
  });

  it('says so if the data cannot be read', async () => {
    const page = new TextDecoder().decode(await pageOf(SMALL)).replace(/id="data">[^<]{20}/, 'id="data">');
    await withHtmlPage(new TextEncoder().encode(page), { browser }, async ({ texts }) => {
      expect((await texts('#problem'))[0]).toMatch(/^The profile cannot be shown: ./);
    });
  });
});

// What Firefox has no commands for: fingers, and other media than the screen.
describe.skipIf(hasNoBrowser('Chromium', 'the page of -t html on paper and touch screens'))('the page of -t html on paper and touch screens', () => {
  const open: Open = (...args) => openProfilePage('Chromium', ...args);

  test('zooms to the box that a finger pressed', async () => {
    await open(SMALL, async ({ page, settled, texts }) => {
      const session = await page.context().newCDPSession(page);
      await session.send('Emulation.setTouchEmulationEnabled', { enabled: true });
      const { x, width, y } = (await page.locator('#canvas').boundingBox())!;
      await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x: x + width * 0.9, y: y + 50 }] });
      await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
      await page.waitForFunction('document.querySelectorAll("#path button").length > 1');
      await settled();
      expect(await texts('#path button')).toEqual(['all', 'main', 'parse', '✕ Reset zoom']);
    });
  });

  test('prints what can be seen, dark on white', async () => {
    await open(SMALL, async ({ page, settled }) => {
      const shown = (): Promise<[string, string, number]> =>
        page.evaluate<[string, string, number]>(`[
          getComputedStyle(document.body).color,
          getComputedStyle(document.querySelector('#legend i')).backgroundColor,
          document.documentElement.scrollWidth - innerWidth,
        ]`);
      const light = await shown();
      await page.emulateMedia({ colorScheme: 'dark' });
      await settled();
      expect(await shown()).not.toEqual(light);
      await page.emulateMedia({ colorScheme: 'dark', media: 'print' });
      await settled();
      expect(await shown()).toEqual(light);
      // The canvas keeps its size in pixels when the paper is narrower than the window.
      expect(await page.evaluate<boolean>('getComputedStyle(document.querySelector("#canvas")).maxWidth === "100%"')).toBe(true);
    });
  });

  test('follows the colors of the browser when they change', async () => {
    await open(SMALL, async (view) => {
      const { page, settled } = view;
      const colors = (): Promise<string[]> => colorsOf(view);
      const light = await colors();
      await page.emulateMedia({ colorScheme: 'dark' });
      await settled();
      const dark = await colors();
      expect(dark.map((color, at) => color === light[at])).toEqual(light.map(() => false));
      // High contrast changes all others; without these, the graph has no legend.
      await page.emulateMedia({ forcedColors: 'active' });
      await settled();
      expect((await colors()).slice(1)).toEqual(dark.slice(1));
    });
  });
});
