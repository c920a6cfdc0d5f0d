import { withServedFolder } from '../programs/served-folder.ts';
import { inputFile, type Viewer, type ViewerOptions, waitUntil, withChromium } from './chromium-page.ts';

export interface FirefoxProfilerOptions extends ViewerOptions {
  /** The tab to show, by its name in the application; the call tree when absent. */
  readonly tab?: 'calltree' | 'flame-graph' | 'stack-chart' | 'marker-chart' | 'marker-table';
}

const PHASE = 'globalThis.getState?.().app.view.phase';

/**
 * Runs `use` with a page on which Firefox Profiler shows a file.
 * @param application folder of the built application: `dist/` of its repository, since it is on no registry
 * @param input path of a file, or its bytes
 * @throws Error when the application refuses the file or does not finish loading it
 */
export async function withFirefoxProfiler<T>(
  application: string,
  input: string | Uint8Array,
  options: FirefoxProfilerOptions,
  use: (viewer: Viewer) => Promise<T>,
): Promise<T> {
  return await withServedFolder(application, async (url) => {
    return await withChromium(options, async (viewer, timeoutMs) => {
      const { page, problems } = viewer;
      // Its service worker, which keeps it for use without a network, works only at its own address.
      await page.addInitScript('delete Navigator.prototype.serviceWorker');
      await page.goto(url);
      const file = page.locator('input[type=file]').first();
      await file.waitFor({ state: 'attached' });
      await file.setInputFiles(inputFile(viewer, input, 'profile.firefox.json'), { timeout: timeoutMs });
      await waitUntil(viewer, `['DATA_LOADED', 'FATAL_ERROR'].includes(${PHASE})`, timeoutMs);
      if ((await page.evaluate(PHASE)) === 'FATAL_ERROR') throw new Error(`Firefox Profiler refuses the file: ${problems.join('; ')}`);
      if (options.tab !== undefined) await page.locator(`[data-name="${options.tab}"]`).first().click();
      return await use(viewer);
    });
  });
}
