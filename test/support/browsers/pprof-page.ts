import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Viewer, type ViewerOptions, withChromium } from './chromium-page.ts';

/**
 * Runs `use` with the flame graph of pprof's web pages.
 * @param pprof the program
 * @param file path of a profile
 * @throws Error with pprof's message when it does not serve the file
 */
export async function withPprofFlameGraph<T>(pprof: string, file: string, options: ViewerOptions, use: (viewer: Viewer) => Promise<T>): Promise<T> {
  const server = spawn(pprof, ['-http=127.0.0.1:', '-no_browser', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  const closed = once(server, 'close');
  try {
    let said = '';
    let url: string | undefined;
    for await (const line of createInterface({ input: server.stderr })) {
      said += `${line}\n`;
      url = /^Serving web UI on (http:\S+)/.exec(line)?.[1];
      if (url !== undefined) break;
    }
    if (url === undefined) throw new Error(`pprof serves nothing: ${said}`);
    return await withChromium(options, async (viewer) => {
      await viewer.page.goto(`${url}/ui/flamegraph`, { waitUntil: 'load' });
      return await use(viewer);
    });
  } finally {
    server.kill();
    await closed;
  }
}
