import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import type { Launch } from './browser-page.ts';

/** The browser to drive: `$CHROMIUM`, else one in the usual places; undefined if there is none. */
export function findChromium(): string | undefined {
  const candidates = process.env.CHROMIUM ? [process.env.CHROMIUM] : ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  return candidates.find((path) => existsSync(path));
}

export async function launchChromium({ executablePath, folder, isDark, timeoutMs, window }: Launch): Promise<BrowserContext> {
  // A persistent context, since devtools:// pages do not open in a private one.
  return await chromium.launchPersistentContext(join(folder, 'user-data'), {
    ...window,
    colorScheme: isDark ? 'dark' : 'light',
    executablePath,
    headless: true,
    timeout: timeoutMs,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}
