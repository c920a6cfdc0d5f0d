import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join, normalize } from 'node:path';
import { inputFile, type ViewerOptions, waitUntil, withChromium } from './chromium-page.ts';

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
  /** What the page complained of, empty when all is well. */
  readonly problems: readonly string[];
}

const MIME: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
};

/**
 * The props of speedscope's root component, found through Preact's tree of components: the only place where the
 * imported profiles can be had. Observed: speedscope 1.25.
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

/**
 * Opens a file in the real speedscope application, in a headless Chromium.
 * @param input path of a file, or its bytes
 * @param options.fileName what a file of the bytes is called, by whose end the application knows some formats
 * @throws Error when the application refuses the file or does not come to an end with it
 */
export async function loadInSpeedscope(
  input: string | Uint8Array,
  options: ViewerOptions & { readonly view?: 'time-ordered' | 'left-heavy' | 'sandwich'; readonly fileName?: string } = {},
): Promise<SpeedscopeView> {
  const server = serveSpeedscope();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await withChromium(options, async (viewer, timeoutMs) => {
      const { page, problems } = viewer;
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/#view=${options.view ?? 'time-ordered'}`);
      await page.waitForSelector('#file', { state: 'attached' });
      await page.evaluate(FIND_APPLICATION);
      await page.locator('#file').setInputFiles(inputFile(viewer, input, options.fileName ?? 'profile.speedscope.json'), { timeout: timeoutMs });
      const isDone = '(() => { const app = globalThis.findApplication(); return app?.error || (app?.profileGroup && !app.loading); })()';
      await waitUntil(viewer, isDone, timeoutMs);
      if (await page.evaluate('Boolean(globalThis.findApplication().error)')) throw new Error(`speedscope refuses the file: ${problems.join('; ')}`);
      const view = await page.evaluate<Omit<SpeedscopeView, 'problems'>>(READ_PROFILES);
      if (options.screenshot !== undefined) {
        await page.waitForTimeout(1000);
        await page.screenshot({ path: options.screenshot });
      }
      return { ...view, problems: [...problems] };
    });
  } finally {
    server.close();
  }
}

function serveSpeedscope() {
  const root = join(dirname(createRequire(import.meta.url).resolve('speedscope/package.json')), 'dist', 'release');
  return createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
    const file = join(root, path === '/' ? 'index.html' : normalize(path));
    if (!file.startsWith(root) || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': MIME[extname(file)] ?? 'application/octet-stream' });
    createReadStream(file).pipe(response);
  });
}
