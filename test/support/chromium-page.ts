import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

export interface ViewerOptions {
  /** How long the viewer may take for each step, even on a busy machine; three minutes when absent. */
  readonly timeoutMs?: number;
  /** The size of the window in CSS pixels, and how many pixels of a picture each of them has; 1600 × 1200 and 1 when absent. */
  readonly window?: { readonly width: number; readonly height: number; readonly scale: number };
}

/** A page of a headless Chromium, and a folder of its own for files. */
export interface Viewer {
  readonly page: Page;
  readonly folder: string;
  /** Errors and warnings that the page logged, uncaught errors, crashes and alerts. */
  readonly problems: string[];
}

const DEFAULT_TIMEOUT_MS = 180_000;
const DEFAULT_WINDOW = { width: 1600, height: 1200, scale: 1 };
/** What headless Chromium logs about itself, whatever it shows. */
const NOISE = /GL Driver Message|Autofocus processing|Error with Feature-Policy|Unrecognized feature|Permissions-Policy/;

/** The browser to drive: `$CHROMIUM`, else one in the usual places; undefined if there is none. */
export function findChromium(): string | undefined {
  const candidates = process.env.CHROMIUM ? [process.env.CHROMIUM] : ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  return candidates.find((path) => existsSync(path));
}

/** For `describe.skipIf`: announces what is not tested when there is no browser. */
export function hasNoChromium(whatIsSkipped: string): boolean {
  if (findChromium() !== undefined) return false;
  process.stderr.write(`SKIPPED: ${whatIsSkipped}: no Chromium found; install one or set CHROMIUM to its path\n`);
  return true;
}

/** Runs `use` with a fresh browser, which is gone afterwards whatever happens, even if its page hangs. */
export async function withChromium<T>(options: ViewerOptions, use: (viewer: Viewer, timeoutMs: number) => Promise<T>): Promise<T> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('no Chromium found');
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const { width, height, scale } = options.window ?? DEFAULT_WINDOW;
  const folder = mkdtempSync(join(tmpdir(), 'perfconv-viewer-'));
  let context: BrowserContext | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    // A persistent context, since devtools:// pages do not open in a private one.
    context = await chromium.launchPersistentContext(join(folder, 'user-data'), {
      executablePath,
      headless: true,
      timeout: timeoutMs,
      viewport: { width, height },
      deviceScaleFactor: scale,
      args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
    context.setDefaultTimeout(timeoutMs);
    const page = context.pages()[0] ?? (await context.newPage());
    const viewer: Viewer = { page, folder, problems: watchProblems(page) };
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
  page.on('pageerror', (error) => problems.push(`uncaught: ${String(error).slice(0, 400)}`));
  page.on('crash', () => problems.push('the page crashed'));
  page.on('dialog', (dialog) => {
    problems.push(`alert: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return problems;
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
