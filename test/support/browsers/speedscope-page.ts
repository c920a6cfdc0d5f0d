import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { withServedFolder } from '../programs/served-folder.ts';
import { inputFile, type Viewer, type ViewerOptions, waitUntil, withChromium } from './chromium-page.ts';

export interface SpeedscopeFrame {
  readonly name: string;
  readonly file: string | undefined;
  readonly line: number | undefined;
  /** Weights in the profile's unit. */
  readonly self: number;
  readonly total: number;
}

/** A profile as speedscope's own importer understood it. */
export interface SpeedscopeProfile {
  readonly name: string;
  readonly unit: string;
  readonly total: number;
  /** Total without idle time. */
  readonly nonIdle: number;
  /** All frames, by self weight, the heaviest first. */
  readonly frames: readonly SpeedscopeFrame[];
}

export interface SpeedscopeView {
  readonly profiles: readonly SpeedscopeProfile[];
  /** Index of the profile on display. */
  readonly shown: number;
  /** What the page complained about; empty if all is well. */
  readonly problems: readonly string[];
}

/**
 * The props of speedscope's root component, found through Preact's tree of components: the only place from which the
 * imported profiles can be read. Observed: speedscope 1.25.
 */
const FIND_APPLICATION = `globalThis.findApplication = () => {
  const host = [document.body, ...document.body.children].find((element) => element.__k);
  const pending = [host?.__k];
  while (pending.length > 0) {
    const node = pending.pop();
    const props = node?.__c?.props ?? node?.props;
    if (props && 'profileGroup' in props && 'glCanvas' in props) return props;
    if (Array.isArray(node?.__k)) pending.push(...node.__k);
    else if (node?.__k) pending.push(node.__k);
  }
};`;

const READ_PROFILES = `(() => {
  const { profileGroup } = globalThis.findApplication();
  const profiles = profileGroup.profiles.map(({ profile }) => {
    const frames = [];
    profile.forEachFrame((frame) => frames.push({ name: frame.name, file: frame.file, line: frame.line, self: frame.getSelfWeight(), total: frame.getTotalWeight() }));
    frames.sort((a, b) => b.self - a.self);
    return { name: profile.getName(), unit: profile.getWeightUnit(), total: profile.getTotalWeight(), nonIdle: profile.getTotalNonIdleWeight(), frames };
  });
  return { profiles, shown: profileGroup.indexToView };
})()`;

export interface SpeedscopeOptions extends ViewerOptions {
  readonly view?: 'time-ordered' | 'left-heavy' | 'sandwich';
  /** The name of the file that is made of bytes: the application knows some formats by its extension. */
  readonly fileName?: string;
}

/**
 * Opens a file in the real speedscope application, in a headless Chromium, and reads the profiles that it shows.
 * @param input path of a file, or its bytes
 * @throws Error when the application refuses the file or does not finish loading it
 */
export async function loadInSpeedscope(input: string | Uint8Array, options: SpeedscopeOptions = {}): Promise<SpeedscopeView> {
  return await withSpeedscope(input, options, async ({ page, problems }) => {
    const view = await page.evaluate<Omit<SpeedscopeView, 'problems'>>(READ_PROFILES);
    return { ...view, problems: [...problems] };
  });
}

/** Runs `use` with a page on which speedscope shows a file. Parameters and errors as for {@link loadInSpeedscope}. */
export async function withSpeedscope<T>(input: string | Uint8Array, options: SpeedscopeOptions, use: (viewer: Viewer) => Promise<T>): Promise<T> {
  const root = join(dirname(createRequire(import.meta.url).resolve('speedscope/package.json')), 'dist', 'release');
  return await withServedFolder(root, async (url) => {
    return await withChromium(options, async (viewer, timeoutMs) => {
      const { page, problems } = viewer;
      await page.goto(`${url}#view=${options.view ?? 'time-ordered'}`);
      await page.waitForSelector('#file', { state: 'attached' });
      await page.evaluate(FIND_APPLICATION);
      await page.locator('#file').setInputFiles(inputFile(viewer, input, options.fileName ?? 'profile.speedscope.json'), { timeout: timeoutMs });
      const isDone = '(() => { const app = globalThis.findApplication(); return app?.error || (app?.profileGroup && !app.loading); })()';
      await waitUntil(viewer, isDone, timeoutMs);
      if (await page.evaluate('Boolean(globalThis.findApplication().error)')) throw new Error(`speedscope refuses the file: ${problems.join('; ')}`);
      return await use(viewer);
    });
  });
}
