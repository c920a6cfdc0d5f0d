import { expect } from 'vitest';
import type { Profile } from '../../../src/profile/profile.ts';
import { pageOf } from '../builders/profiles/page-recording.ts';
import { type HtmlView, withHtmlPage } from '../readers/html-page.ts';
import type { BrowserName, ViewerOptions } from './browser-page.ts';

/** Opens the page of a profile. Fails if the browser has reported anything, or if the page has asked for anything. */
export async function openProfilePage<T>(browser: BrowserName, profile: Profile, use: (view: HtmlView) => Promise<T>, options: ViewerOptions = {}): Promise<T> {
  return await withHtmlPage(await pageOf(profile), { ...options, browser }, async (view) => {
    const result = await use(view);
    expect(view.problems).toEqual([]);
    expect(view.requests).toEqual([]);
    return result;
  });
}
