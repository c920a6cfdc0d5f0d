import { hasNoBrowser, type Viewer, type ViewerOptions, withBrowser } from './browser-page.ts';

export { inputFile, type Viewer, type ViewerOptions, waitUntil, waitUntilSettled } from './browser-page.ts';
export { findChromium } from './chromium-browser.ts';

/** For `describe.skipIf`: announces what is not tested when there is no Chromium. */
export function hasNoChromium(whatIsSkipped: string): boolean {
  return hasNoBrowser('Chromium', whatIsSkipped);
}

/** {@link withBrowser} with Chromium. */
export function withChromium<T>(options: ViewerOptions, use: (viewer: Viewer, timeoutMs: number) => Promise<T>): Promise<T> {
  return withBrowser('Chromium', options, use);
}
