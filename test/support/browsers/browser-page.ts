import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { findChromium, launchChromium } from './chromium-browser.ts';
import { findFirefox, launchFirefox } from './firefox-browser.ts';

export type BrowserName = keyof typeof BROWSERS;

export interface ViewerOptions {
  /** How long the viewer may take for each step, even on a busy machine; three minutes when absent. */
  readonly timeoutMs?: number;
  /** The size of the window in CSS pixels, and how many pixels of a picture each of them has; 1600 × 1200 and 1 when absent. */
  readonly window?: { readonly width: number; readonly height: number; readonly scale: number };
  /** Whether the page is to be dark; no when absent. */
  readonly isDark?: boolean;
}

/** How a browser is started. */
export interface Launch {
  readonly executablePath: string;
  /** For what it keeps. */
  readonly folder: string;
  /** Where Firefox puts downloads: in this version, Playwright does not hear of them. */
  readonly downloadsPath: string;
  readonly isDark: boolean;
  readonly timeoutMs: number;
  readonly window: { readonly viewport: { readonly width: number; readonly height: number }; readonly deviceScaleFactor: number };
}

/** A page of a headless browser, and a folder of its own for files. */
export interface Viewer {
  readonly page: Page;
  readonly folder: string;
  /** Errors and warnings that the page logged, uncaught errors, crashes and alerts. */
  readonly problems: string[];
  /** Where files appear that it saves; undefined if Playwright tells of them. */
  readonly downloadsPath?: string;
}

const DEFAULT_TIMEOUT_MS = 180_000;
const DEFAULT_WINDOW = { width: 1600, height: 1200, scale: 1 };
/** What browsers log about themselves, whatever they show; Firefox also that the page's policy keeps it from asking for an icon. */
const NOISE = /favicon\.ico|GL Driver Message|Autofocus processing|Error with Feature-Policy|Unrecognized feature|Permissions-Policy/;

const BROWSERS = {
  Chromium: { find: findChromium, launch: launchChromium, variable: 'CHROMIUM' },
  Firefox: { find: findFirefox, launch: launchFirefox, variable: 'FIREFOX' },
} as const satisfies Record<string, { find(): string | undefined; launch(launch: Launch): Promise<BrowserContext>; variable: string }>;

/** All browsers that pages are tried in. */
export const BROWSER_NAMES = Object.keys(BROWSERS) as readonly BrowserName[];

/** For `describe.skipIf`: announces what is not tested when there is no browser. */
export function hasNoBrowser(name: BrowserName, whatIsSkipped: string): boolean {
  if (BROWSERS[name].find() !== undefined) return false;
  process.stderr.write(`SKIPPED: ${whatIsSkipped}: no ${name} found; install one or set ${BROWSERS[name].variable} to its path\n`);
  return true;
}

/** Runs `use` with a fresh browser, which is gone afterwards whatever happens, even if its page hangs. */
export async function withBrowser<T>(name: BrowserName, options: ViewerOptions, use: (viewer: Viewer, timeoutMs: number) => Promise<T>): Promise<T> {
  const executablePath = BROWSERS[name].find();
  if (executablePath === undefined) throw new Error(`no ${name} found`);
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const { width, height, scale } = options.window ?? DEFAULT_WINDOW;
  const folder = mkdtempSync(join(tmpdir(), 'perfconv-viewer-'));
  let context: BrowserContext | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    const downloadsPath = join(folder, 'downloads');
    const window = { viewport: { width, height }, deviceScaleFactor: scale };
    context = await BROWSERS[name].launch({ executablePath, folder, downloadsPath, timeoutMs, isDark: options.isDark ?? false, window });
    context.setDefaultTimeout(timeoutMs);
    const page = context.pages()[0] ?? (await context.newPage());
    const viewer: Viewer = { page, folder, problems: watchProblems(page), ...(name === 'Firefox' && { downloadsPath }) };
    const hang = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`the viewer hangs; it said: ${viewer.problems.join('; ') || 'nothing'}`)), timeoutMs + 60_000);
    });
    return await Promise.race([use(viewer, timeoutMs), hang]);
  } finally {
    clearTimeout(timer);
    await context?.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function watchProblems(page: Page): string[] {
  const problems: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning', 'assert'].includes(message.type()) && !NOISE.test(message.text()))
      problems.push(`${message.type()}: ${message.text().slice(0, 400)}`);
  });
  page.on('pageerror', (error) => {
    if (!NOISE.test(String(error))) problems.push(`uncaught: ${String(error).slice(0, 400)}`);
  });
  page.on('crash', () => problems.push('the page crashed'));
  page.on('dialog', (dialog) => {
    problems.push(`alert: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return problems;
}

/** What the page saves when `act` has it do so. */
export async function savedBy({ downloadsPath, page }: Viewer, act: () => Promise<unknown>): Promise<{ readonly name: string; readonly bytes: Buffer }> {
  if (downloadsPath === undefined) {
    const [download] = await Promise.all([page.waitForEvent('download'), act()]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  }
  await act();
  for (;;) {
    const names = existsSync(downloadsPath) ? readdirSync(downloadsPath) : [];
    // While a file is not whole, there is another one beside it.
    if (names.length === 1 && !names[0].endsWith('.part')) {
      const path = join(downloadsPath, names[0]);
      // Firefox may rename it once more between listing and reading.
      const bytes = readIfThere(path);
      rmSync(path, { force: true });
      if (bytes.length > 0) return { name: names[0], bytes };
    }
    await delay(50);
  }
}

/** The path of a file to load: the input itself, or a new file under `name` with the bytes. */
export function inputFile(viewer: Viewer, input: string | Uint8Array, name: string): string {
  if (typeof input === 'string') return input;
  const path = join(viewer.folder, name);
  writeFileSync(path, input);
  return path;
}

/**
 * Waits until the page has done what it put off for at most `delayMs`. The page itself waits, since it gets less done on a busy machine: for that time,
 * then until it has painted and is idle.
 */
export async function waitUntilSettled(page: Page, delayMs: number): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const painted = () => requestAnimationFrame(() => requestAnimationFrame(() => requestIdleCallback(resolve)));
    setTimeout(painted, ${delayMs});
  })`);
}

/**
 * Evaluates an expression in the page over and over until it is true. Unlike Playwright's waitForFunction this works
 * under a content security policy that forbids eval.
 * @throws Error when `timeoutMs` have passed
 */
export async function waitUntil(viewer: Viewer, expression: string, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await viewer.page.evaluate<boolean>(`Boolean(${expression})`))) {
    if (Date.now() > deadline) throw new Error(`the viewer does not load the file; it said: ${viewer.problems.join('; ') || 'nothing'}`);
    await viewer.page.waitForTimeout(100);
  }
}

/** The bytes of a file; none if it is no longer there. */
function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
