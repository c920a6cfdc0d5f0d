import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BROWSER_NAMES, hasNoBrowser } from '../support/browsers/browser-page.ts';
import { fixtureFile, fixtureSymbolArgs } from '../support/fixture-files.ts';
import { ensureBuilt } from '../support/programs/built-cli.ts';
import { convert } from '../support/programs/perfconv-tool.ts';
import { startView, type ViewingCli, WITH_DISPLAY } from '../support/programs/viewing-cli.ts';
import { type HtmlView, withHtmlPage } from '../support/readers/html-page.ts';

describe.each(BROWSER_NAMES)('perfconv view in %s', (browser) => {
  const isMissing = process.platform !== 'linux' || hasNoBrowser(browser, `perfconv view in ${browser}`);
  const args = [fixtureFile('kernel.data'), ...fixtureSymbolArgs];
  let dir: string;
  let cli: ViewingCli;
  beforeAll(() => {
    ensureBuilt();
    dir = mkdtempSync(join(tmpdir(), 'perfconv-view-'));
    // In place of the program that opens the user's browser: the test opens its own.
    writeFileSync(join(dir, 'xdg-open'), '#!/bin/sh\necho "$1" > opened.new; mv opened.new opened\n');
    chmodSync(join(dir, 'xdg-open'), 0o755);
    cli = startView(args, dir, { ...WITH_DISPLAY, PATH: `${dir}${delimiter}${process.env.PATH}` });
  });
  afterAll(() => {
    cli.child.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  });

  async function openedAddress(): Promise<string> {
    while (!existsSync(join(dir, 'opened'))) await delay(20);
    return readFileSync(join(dir, 'opened'), 'utf8').trimEnd();
  }

  const shown = async ({ rows, texts }: HtmlView) => ({ rows: await rows(), name: await texts('#name'), summary: await texts('#summary') });

  test.skipIf(isMissing)('shows what the page of -t html shows, and again when it is reloaded, and after the program has ended', async () => {
    convert([...args, '-q', '-o', join(dir, 'kernel.html')]);
    const expected = await withHtmlPage(join(dir, 'kernel.html'), { browser }, shown);
    const url = await cli.address();
    await withHtmlPage(new URL(await openedAddress()), { browser }, async (view) => {
      const { page, problems, requests, settled, texts } = view;
      // The address that may be used once has led to the other one, and the page has asked for nothing else.
      expect([page.url(), requests, problems]).toEqual([url, [url], []]);
      expect(await shown(view)).toEqual(expected);
      await page.reload();
      await page.waitForSelector('body[data-ready]');
      await settled();
      expect(await shown(view)).toEqual(expected);
      cli.child.kill('SIGINT');
      expect((await cli.ended()).status).toBe(0);
      await page.locator('input[value=callers]').check();
      await settled();
      expect(await texts('#path button')).toEqual(['all']);
      expect(problems).toEqual([]);
    });
  });
});
