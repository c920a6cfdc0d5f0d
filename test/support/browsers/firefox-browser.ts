import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, firefox } from 'playwright-core';
import type { Launch } from './browser-page.ts';

/** The browser to drive: `$FIREFOX`, else one in the usual places; undefined if there is none. */
export function findFirefox(): string | undefined {
  const candidates = process.env.FIREFOX ? [process.env.FIREFOX] : ['/usr/bin/firefox', '/usr/bin/firefox-esr'];
  return candidates.find((path) => existsSync(path));
}

/** An unchanged Firefox, over WebDriver BiDi. Playwright's own protocol needs a Firefox that was built for it. */
export async function launchFirefox({ downloadsPath, executablePath, isDark, timeoutMs, window }: Launch): Promise<BrowserContext> {
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath,
    downloadsPath,
    headless: true,
    timeout: timeoutMs,
    firefoxUserPrefs: {
      // Pages are dark or light whatever the desktop is.
      'layout.css.prefers-color-scheme.content-override': isDark ? 0 : 1,
      // Nothing is asked for but what a page asks for.
      'network.captive-portal-service.enabled': false,
      'network.connectivity-service.enabled': false,
    },
  });
  withoutMediaFeatures(browser);
  const context = await browser.newContext(window);
  context.on('close', () => void browser.close());
  return context;
}

/** What is behind Playwright's object of a browser; only what is used of it. */
interface Behind {
  readonly _connection?: { toImpl?(browser: Browser): { readonly _browserSession: { send(method: string, parameters: unknown): Promise<unknown> } } };
}

/** Playwright has each window get media features, by a command that Firefox knows only from version 154 on, and refuses to open one without it. */
function withoutMediaFeatures(browser: Browser): void {
  const session = (browser as Behind)._connection?.toImpl?.(browser)._browserSession;
  if (session === undefined) return;
  const send = session.send.bind(session);
  session.send = async (method, parameters) => (method === 'emulation.setMediaFeaturesOverride' ? {} : await send(method, parameters));
}
