/**
 * Takes pictures of outputs in their viewers: npm run screenshots [-- RECORDING]
 *
 * Each viewer shows small recordings (fixtures) and a large one: RECORDING, or one that is made with perf and Go and kept in .tmp/pictures. Pictures for the
 * pages go to docs/images, all others to .tmp/pictures, also those of RECORDING, which may show something private. Whatever is missing on the machine is
 * reported and left out. Look at each picture before it is committed.
 *
 * $CHROMIUM names the browser, $PERFCONV_FIREFOX_PROFILER the folder with the built application of Firefox Profiler
 * (`dist/` of its repository).
 */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { delimiter, join, relative, resolve } from 'node:path';
import { findChromium, type Viewer, waitUntilSettled } from '../test/support/browsers/chromium-page.ts';
import { hideSidebar, showBottomUp, withDevTools } from '../test/support/browsers/devtools-page.ts';
import { withFirefoxProfiler } from '../test/support/browsers/firefox-page.ts';
import { withPprofFlameGraph } from '../test/support/browsers/pprof-page.ts';
import { withSpeedscope } from '../test/support/browsers/speedscope-page.ts';
import { lastLines, runTool } from '../test/support/perf/perf-tool.ts';
import { findPprof, noPprof } from '../test/support/programs/pprof-tool.ts';
import { withHtmlPage } from '../test/support/readers/html-page.ts';
import { makeLargeRecording, whyNoLargeRecording } from './large-recording.ts';

type Shoot = (viewer: Viewer) => Promise<void>;

interface ViewerPictures {
  readonly name: string;
  /** What perfconv makes for it. */
  readonly suffix: string;
  readonly window: { readonly width: number; readonly height: number; readonly scale: number };
  /** The recording whose picture the pages show. */
  readonly shown: string;
  /** Why it cannot be used here; undefined when it can. */
  whyMissing(): string | undefined;
  /** Opens a file in the viewer and calls `shoot` when it is shown. */
  open(file: string, options: Pick<ViewerPictures, 'window'>, shoot: Shoot): Promise<void>;
}

/** npm starts scripts in the project's folder. */
const ROOT = process.cwd();
const SCRATCH = join(ROOT, '.tmp/pictures');
const SHOWN = join(ROOT, 'docs/images');
const FIXTURES = join(ROOT, 'fixtures');
/** The fixtures to show. */
const SMALL = ['kernel', 'threads'];
/** The name of the large recording, whichever program it is of. */
const LARGE = 'large';
/** A piece of it, short enough for names to fit into the bars on a time axis. */
const PIECE = 'piece';
/** How long a viewer may go on painting after it says that it is done. */
const PAINTING_MS = 2000;

// Where .ci/run installs pprof.
process.env.PATH = [process.env.PATH, join(ROOT, '.tmp/bin')].join(delimiter);
const firefoxProfiler = process.env.PERFCONV_FIREFOX_PROFILER ?? '';
const pprof = findPprof();

const openDevTools: ViewerPictures['open'] = (file, options, shoot) =>
  withDevTools(file, options, async (viewer) => {
    await hideSidebar(viewer);
    await showBottomUp(viewer);
    await shoot(viewer);
  });

const VIEWERS: readonly ViewerPictures[] = [
  {
    name: 'html',
    suffix: '.html',
    window: { width: 1160, height: 680, scale: 1 },
    shown: 'kernel',
    whyMissing: () => undefined,
    open: (file, options, shoot) =>
      withHtmlPage(file, options, async (view) => {
        await view.page.locator('#table button', { hasText: 'do_syscall_64' }).first().click();
        await shoot(view);
      }),
  },
  {
    name: 'pprof',
    suffix: '.pb.gz',
    window: { width: 1100, height: 540, scale: 1 },
    shown: LARGE,
    whyMissing: () => (pprof === undefined ? noPprof : undefined),
    open: (file, options, shoot) => withPprofFlameGraph(pprof ?? '', file, options, shoot),
  },
  {
    name: 'speedscope',
    suffix: '.speedscope.json',
    window: { width: 1000, height: 480, scale: 2 },
    shown: 'kernel',
    whyMissing: () => undefined,
    open: (file, options, shoot) => withSpeedscope(file, { ...options, view: 'left-heavy' }, shoot),
  },
  {
    name: 'devtools',
    suffix: '.trace.json',
    window: { width: 1200, height: 720, scale: 1 },
    shown: PIECE,
    whyMissing: () => undefined,
    open: openDevTools,
  },
  {
    name: 'cpuprofile',
    suffix: '.cpuprofile',
    window: { width: 1200, height: 720, scale: 1 },
    shown: 'threads',
    whyMissing: () => undefined,
    open: openDevTools,
  },
  {
    name: 'firefox',
    suffix: '.firefox.json',
    window: { width: 1200, height: 720, scale: 1 },
    shown: LARGE,
    whyMissing: () => (existsSync(join(firefoxProfiler, 'index.html')) ? undefined : '$PERFCONV_FIREFOX_PROFILER names no built application'),
    open: (file, options, shoot) => withFirefoxProfiler(firefoxProfiler, file, { ...options, tab: 'flame-graph' }, shoot),
  },
];

interface Recording {
  readonly name: string;
  readonly path: string;
  readonly options: readonly string[];
  readonly isPublic: boolean;
}

function smallRecording(name: string): Recording {
  const symbols = ['--symfs', join(FIXTURES, 'symfs'), '--kallsyms', join(FIXTURES, 'kallsyms')];
  return { name, path: join(FIXTURES, `${name}.data`), options: symbols, isPublic: true };
}

/** The large recording as a whole, and a piece of it; none if it cannot be made. */
function largeRecordings(given: string | undefined): Recording[] {
  const isPublic = given === undefined;
  let path = isPublic ? join(SCRATCH, 'gofmt.data') : resolve(given);
  if (!existsSync(path)) {
    if (!isPublic) throw new Error(`${given} does not exist`);
    const why = whyNoLargeRecording();
    if (why !== undefined) {
      skip('the large recording', why);
      return [];
    }
    path = makeLargeRecording(SCRATCH);
  }
  return [
    { name: LARGE, path, options: [], isPublic },
    { name: PIECE, path, options: ['--time', '20%-22%'], isPublic },
  ];
}

async function takePicture(viewer: ViewerPictures, { name, path, options, isPublic }: Recording): Promise<void> {
  const profile = join(SCRATCH, `${name}${viewer.suffix}`);
  const conversion = runTool(process.execPath, [join(ROOT, 'bin/perfconv.js'), path, ...options, '-o', profile], { cwd: SCRATCH });
  if (conversion.status !== 0) throw new Error(`perfconv ${path}: ${lastLines(conversion.stderr)}`);
  const picture = isPublic && viewer.shown === name ? join(SHOWN, `${viewer.name}.png`) : join(SCRATCH, `${viewer.name}-${name}.png`);
  await viewer.open(profile, viewer, async ({ page, problems }) => {
    await waitUntilSettled(page, PAINTING_MS);
    await page.screenshot({ path: picture });
    for (const problem of problems) process.stderr.write(`${viewer.name}, ${name}: ${problem}\n`);
  });
  process.stdout.write(`${relative(ROOT, picture)}: ${Math.ceil(statSync(picture).size / 1000)} KB\n`);
}

function skip(what: string, why: string): void {
  process.stderr.write(`SKIPPED ${what}: ${why}\n`);
}

async function main(given: string | undefined): Promise<void> {
  if (findChromium() === undefined) return skip('all pictures', 'no Chromium found; install one or set CHROMIUM to its path');
  for (const folder of [SCRATCH, SHOWN]) mkdirSync(folder, { recursive: true });
  const recordings = [...SMALL.map(smallRecording), ...largeRecordings(given)];
  for (const viewer of VIEWERS) {
    const why = viewer.whyMissing();
    if (why !== undefined) skip(`pictures of ${viewer.name}`, why);
    else for (const recording of recordings) await takePicture(viewer, recording);
  }
}

await main(process.argv[2]);
