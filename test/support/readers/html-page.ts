import { pathToFileURL } from 'node:url';
import { type BrowserName, inputFile, type Viewer, type ViewerOptions, waitUntil, waitUntilSettled, withBrowser } from '../browsers/browser-page.ts';

export interface HtmlView extends Viewer {
  /** Addresses that the page asked for, apart from its own. */
  readonly requests: readonly string[];
  /** Waits until the page has drawn what follows from the last click or key. */
  settled(): Promise<void>;
  /** Rows of the table of functions: self, its share, total, its share, name, binary. */
  rows(): Promise<string[][]>;
  /** The texts of all elements that a selector finds. */
  texts(selector: string): Promise<string[]>;
  /** Clicks the box at a row of the graph, at a share of its width. */
  clickBox(row: number, place: number): Promise<void>;
}

const ROW_HEIGHT = 20;

/**
 * Opens a page of `-t html`, and calls `use` when it is shown.
 * @param input path of a file, or its bytes; or the address of a server
 */
export async function withHtmlPage<T>(
  input: string | Uint8Array | URL,
  { browser = 'Chromium', ...options }: ViewerOptions & { readonly browser?: BrowserName },
  use: (view: HtmlView) => Promise<T>,
): Promise<T> {
  return await withBrowser(browser, options, async (viewer, timeoutMs) => {
    const { page } = viewer;
    const address = input instanceof URL ? input.href : pathToFileURL(inputFile(viewer, input, 'profile.html')).href;
    const requests: string[] = [];
    page.on('request', (request) => {
      if (request.url() !== address) requests.push(request.url());
    });
    await page.goto(address);
    await waitUntil(viewer, 'document.body.dataset.ready || !document.getElementById("problem").hidden', timeoutMs);
    const settled = (): Promise<void> => waitUntilSettled(page, 0);
    await settled();
    const texts = (selector: string): Promise<string[]> => page.locator(selector).allTextContents();
    return await use({
      ...viewer,
      requests,
      settled,
      texts,
      rows: async () =>
        (await page.locator('#table tbody tr').all()).reduce<Promise<string[][]>>(
          async (rows, row) => [...(await rows), await row.locator('td').allTextContents()],
          Promise.resolve([]),
        ),
      clickBox: async (row, place) => {
        const box = await page.locator('#canvas').boundingBox();
        if (box === null) throw new Error('the graph cannot be seen');
        await page.mouse.click(box.x + box.width * place, box.y + (row + 0.5) * ROW_HEIGHT);
        await settled();
      },
    });
  });
}
