import { inputFile, type Viewer, type ViewerOptions, waitUntil, waitUntilSettled, withChromium } from './chromium-page.ts';

/** A row of the Bottom-up table. */
export interface TreeRow {
  /** Function and, after a blank, the link to file and line if the panel shows one. */
  readonly activity: string;
  /** As the panel shows them: rounded to 0.1. */
  readonly selfMs: number;
  readonly totalMs: number;
}

/** A header of the flame chart: a process (without entries of its own) or a thread. */
export interface DevToolsTrack {
  readonly name: string;
  /** 0 for processes and threads at the top, 1 for threads below a process. */
  readonly nesting: number;
  readonly isExpanded: boolean;
  /** Bars of the flame chart. */
  readonly entries: number;
  /** Sum of the bars of the topmost level: how long the track was busy. */
  readonly busyMs: number;
  /** Bottom-up rows over the whole trace, by self time: only those in view, about the ten heaviest; empty for tracks that were not asked for. */
  readonly bottomUp: readonly TreeRow[];
}

export interface DevToolsView {
  readonly tracks: readonly DevToolsTrack[];
  /** Whether the panel took it for a trace that is not of a page. */
  readonly isGeneric: boolean;
  /** What the panel complained about; empty if all is well. */
  readonly problems: readonly string[];
}

const PANEL = 'devtools://devtools/bundled/panels/timeline/timeline.js';
const CONSOLE = 'devtools://devtools/bundled/core/common/common.js';
const BOUNDS = 'devtools://devtools/bundled/services/trace_bounds/trace_bounds.js';

/** Finds the panel, marks its file input, and notes when it has loaded and what it says. Observed: Chromium 156. */
const PREPARE = `(async () => {
  const { TimelinePanel } = await import('${PANEL}');
  const { Console } = await import('${CONSOLE}');
  const panel = (globalThis.panel = TimelinePanel.TimelinePanel.instance());
  globalThis.messages = [];
  Console.Console.instance().addEventListener('messageAdded', (event) => globalThis.messages.push(event.data.text));
  globalThis.isLoaded = false;
  const loadingComplete = panel.loadingComplete.bind(panel);
  panel.loadingComplete = async (...args) => {
    try { await loadingComplete(...args); } catch (error) { globalThis.messages.push('loading failed: ' + error.message); }
    globalThis.isLoaded = true;
  };
  const eachElement = (globalThis.eachElement = (root, visit) => {
    for (const element of root.querySelectorAll('*')) {
      visit(element);
      if (element.shadowRoot) eachElement(element.shadowRoot, visit);
    }
  });
  eachElement(document, (element) => { if (element.tagName === 'INPUT' && element.type === 'file' && /cpuprofile/.test(element.accept)) element.id = 'perfconv-input'; });
})()`;

const HAS_TRACKS = `globalThis.panel.getFlameChart().getMainDataProvider().timelineData()?.groups?.length > 0`;

/** The panel explains its shortcuts when it opens for the first time. */
const CLOSE_DIALOGS = `globalThis.eachElement(document, (element) => { if (element.tagName === 'DIALOG' && element.open) element.close(); })`;

const READ_TRACKS = `(async () => {
  const provider = globalThis.panel.getFlameChart().getMainDataProvider();
  const data = provider.timelineData();
  const groups = data?.groups ?? [];
  const tracks = groups.map((group, index) => {
    const end = groups[index + 1]?.startLevel ?? Infinity;
    let entries = 0, busyMs = 0;
    data.entryLevels.forEach((level, entry) => {
      if (level < group.startLevel || level >= end) return;
      entries++;
      if (level === group.startLevel) busyMs += data.entryTotalTimes[entry];
    });
    return { name: group.name, nesting: group.style?.nestingLevel ?? 0, isExpanded: Boolean(group.expanded), entries, busyMs, bottomUp: [] };
  });
  return { tracks, isGeneric: Boolean(provider.parsedTrace?.data.Meta.traceIsGeneric) };
})()`;

/** The panel zooms to the busy part, and its tables cover only what is in view. */
const SHOW_ALL = `(async () => {
  const { TraceBounds } = await import('${BOUNDS}');
  const manager = TraceBounds.BoundsManager.instance();
  manager.setTimelineVisibleWindow(manager.state().micro.entireTraceBounds);
  const chart = globalThis.panel.getFlameChart().getMainFlameChart();
  const { groups } = globalThis.panel.getFlameChart().getMainDataProvider().timelineData();
  for (let index = 0; index < Math.min(groups.length, 40); index++) if (!groups[index].expanded) chart.expandGroup(index, true);
})()`;

const selectTrack = (index: number) => `(async () => {
  const flameChart = globalThis.panel.getFlameChart();
  const chart = flameChart.getMainFlameChart();
  flameChart.updateSelectedGroup(chart, null);
  flameChart.updateSelectedGroup(chart, flameChart.getMainDataProvider().timelineData().groups[${index}]);
})()`;

const READ_GRID = `(() => {
  const rows = [];
  globalThis.eachElement(document, (element) => {
    if (element.tagName !== 'TR' || !element.classList.contains('data-grid-data-grid-node') || element.getBoundingClientRect().width === 0) return;
    rows.push([...element.querySelectorAll('td')].map((cell) => cell.innerText.replace(/\\s+/g, ' ').trim()).filter(Boolean));
  });
  return rows;
})()`;

export interface DevToolsOptions extends ViewerOptions {
  /** The name of the file that is made of bytes. */
  readonly fileName?: string;
}

/**
 * Opens a trace in the Performance panel of Chromium's own DevTools, headless, and reads what it shows.
 * @param input path of a file, or its bytes
 * @param options.bottomUpOf which tracks to read the Bottom-up table of, by index and name; none when absent
 * @throws Error when the panel refuses the file or does not finish loading it
 */
export async function loadInDevTools(
  input: string | Uint8Array,
  options: DevToolsOptions & { readonly bottomUpOf?: (name: string, index: number) => boolean } = {},
): Promise<DevToolsView> {
  return await withDevTools(input, options, async (viewer, timeoutMs) => {
    const { page, problems } = viewer;
    const { tracks, isGeneric } = await page.evaluate<{ tracks: DevToolsTrack[]; isGeneric: boolean }>(READ_TRACKS);
    await page.evaluate(SHOW_ALL);
    await waitUntilSettled(page, 0);
    await showBottomUp(viewer);
    const filled: DevToolsTrack[] = [];
    for (const [index, track] of tracks.entries()) {
      const isWanted = track.entries > 0 && options.bottomUpOf?.(track.name, index);
      filled.push(isWanted ? { ...track, bottomUp: await readBottomUp(viewer, index, timeoutMs) } : track);
    }
    return { tracks: filled, isGeneric, problems: [...problems] };
  });
}

/** Runs `use` with the Performance panel as it is when it has opened a file. Parameters and errors as for {@link loadInDevTools}. */
export async function withDevTools<T>(
  input: string | Uint8Array,
  options: DevToolsOptions,
  use: (viewer: Viewer, timeoutMs: number) => Promise<T>,
): Promise<T> {
  return await withChromium(options, async (viewer, timeoutMs) => {
    const { page } = viewer;
    await page.goto('devtools://devtools/bundled/devtools_app.html?panel=timeline');
    await page.waitForSelector('input[type=file]', { state: 'attached' });
    await page.evaluate(PREPARE);
    await page
      .locator('#perfconv-input')
      .setInputFiles(inputFile(viewer, input, options.fileName ?? (isGzip(input) ? 'perf.trace.json.gz' : 'perf.trace.json')), { timeout: timeoutMs });
    await waitUntil(viewer, 'globalThis.isLoaded || globalThis.messages.length > 0', timeoutMs);
    const messages = await page.evaluate<string[]>('globalThis.messages');
    if (messages.length > 0) throw new Error(`DevTools refuses the trace: ${messages.join('; ')}`);
    // It paints with a delay, and only then has its tracks.
    await waitUntil(viewer, HAS_TRACKS, timeoutMs);
    await waitUntilSettled(page, 1000);
    await page.evaluate(CLOSE_DIALOGS);
    return await use(viewer, timeoutMs);
  });
}

/** Hides what is beside the flame chart: insights into web pages, and annotations. */
export async function hideSidebar({ page }: Viewer): Promise<void> {
  await page.locator('[aria-label="Hide sidebar"]').first().click();
}

/** Shows the Bottom-up table of the panel. */
export async function showBottomUp({ page }: Viewer): Promise<void> {
  await page.locator('#tab-bottom-up').first().click();
}

async function readBottomUp(viewer: Viewer, index: number, timeoutMs: number): Promise<TreeRow[]> {
  const { page } = viewer;
  await page.evaluate(selectTrack(index));
  // The table is filled with a delay.
  await waitUntilSettled(page, 700);
  await waitUntil(viewer, `(${READ_GRID}).length > 0`, timeoutMs);
  const rows = await page.evaluate<string[][]>(READ_GRID);
  return rows.filter((cells) => cells.length >= 3).map(([self, total, activity]) => ({ activity, selfMs: milliseconds(self), totalMs: milliseconds(total) }));
}

function isGzip(input: string | Uint8Array): boolean {
  return typeof input !== 'string' && input[0] === 0x1f && input[1] === 0x8b;
}

/** `1,416.8 ms100.0 %` */
function milliseconds(cell: string): number {
  return Number.parseFloat(cell.replaceAll(',', ''));
}
