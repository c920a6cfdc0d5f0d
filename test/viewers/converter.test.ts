import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { BlobSymbolFiles, openRecording } from '../../src/index.ts';
import { BROWSER_NAMES, type BrowserName, hasNoBrowser, savedBy, type Viewer, type ViewerOptions, withBrowser } from '../support/browsers/browser-page.ts';
import { makeDirectoryRecording } from '../support/builders/recordings/directory-recording.ts';
import { ensureBuilt } from '../support/programs/built-cli.ts';

const fixture = (path: string): string => fileURLToPath(new URL(`../../fixtures/${path}`, import.meta.url));
const CONVERTER = fileURLToPath(new URL('../../dist/perfconv.html', import.meta.url));
const CUT = { name: '<b>cut.data', mimeType: '', buffer: Buffer.from('PERFILE2 and no more') };
const KERNEL = [fixture('kernel.data'), fixture('symfs/opt/perfconv-fixtures/bin/syscalls'), fixture('kallsyms')];

/** Opens the page from its file. The network is watched: apart from the page itself and what it makes in memory, nothing may be asked for. */
async function openIn(browser: BrowserName, use: (page: Page, viewer: Viewer) => Promise<void>, options: ViewerOptions = {}): Promise<void> {
  await withBrowser(browser, options, async (viewer) => {
    const { page } = viewer;
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    const address = pathToFileURL(CONVERTER).href;
    await page.goto(address);
    await page.locator('body[data-ready]').waitFor();
    await use(page, viewer);
    expect(requests.filter((url) => url !== address && !url.startsWith('blob:'))).toEqual([]);
    expect(viewer.problems).toEqual([]);
  });
}

async function choose(page: Page, files: Parameters<Page['setInputFiles']>[1]): Promise<void> {
  await page.setInputFiles('#input', files);
}

/** The text of each cell of the table of functions: self, its share, total, its share, name, binary. */
async function rowsOf(page: Page): Promise<string[]> {
  const frame = page.frameLocator('#view');
  await frame.locator('body[data-ready]').waitFor();
  return frame.locator('#table tbody tr').allTextContents();
}

function saved(viewer: Viewer, format: string): Promise<{ readonly name: string; readonly bytes: Buffer }> {
  return savedBy(viewer, async () => {
    await viewer.page.selectOption('#format', format);
    await viewer.page.click('#saving button');
  });
}

describe.each(BROWSER_NAMES)('the page that converts recordings in %s', (browser) => {
  const isMissing = hasNoBrowser(browser, `the page that converts recordings in ${browser}`);
  const it = test.skipIf(isMissing);
  const open = (use: (page: Page, viewer: Viewer) => Promise<void>, options?: ViewerOptions): Promise<void> => openIn(browser, use, options);

  beforeAll(ensureBuilt, 120_000);

  it('shows a recording with its names, and saves what the library writes', async () => {
    await open(async (page, viewer) => {
      await choose(page, KERNEL);
      await page.locator('body[data-state=shown]').waitFor();
      expect(await page.textContent('#status')).toBe('kernel.data');
      expect((await rowsOf(page)).slice(0, 2).map((row) => row.replace(/\s+/g, ' '))).toEqual([
        expect.stringContaining('compute'),
        expect.stringContaining('on_signal'),
      ]);
      const symbolFiles = new BlobSymbolFiles(KERNEL.slice(1).map((path) => ({ name: basename(path), data: readFileSync(path) })));
      const recording = await openRecording(readFileSync(KERNEL[0]), { name: 'kernel.data' });
      const profile = await recording.profile({ symbolFiles, kallsyms: 'kallsyms' });
      for (const [format, name] of [
        ['pprof', 'kernel.pb.gz'],
        ['folded', 'kernel.folded'],
        ['speedscope', 'kernel.speedscope.json'],
      ] as const) {
        const file = await saved(viewer, format);
        const unpacked = format === 'pprof' ? gunzipSync(file.bytes) : file.bytes;
        expect(unpacked).toEqual(Buffer.from(await profile.toBytes(format, { gzip: false })));
        expect(file.name).toBe(name);
      }
    });
  });

  it('converts again when files are added, and says what they are and what is missing', async () => {
    await open(async (page) => {
      await choose(page, KERNEL[0]);
      await page.locator('body[data-state=shown]').waitFor();
      expect((await rowsOf(page)).filter((row) => row.includes('compute'))).toEqual([]);
      expect(await page.locator('#findings li').allTextContents()).toEqual([
        expect.stringMatching(/no symbols found for .*with “Choose files”, or its vmlinux/),
      ]);
      expect(await page.textContent('#aboutSummary')).toMatch(/^1 file, 1 message: no symbols found for /);
      await choose(page, KERNEL.slice(1));
      await page.locator('#aboutSummary', { hasText: '3 files' }).waitFor();
      await page.locator('body[data-state=shown]').waitFor();
      expect((await rowsOf(page)).filter((row) => row.includes('compute'))).toHaveLength(1);
      expect((await page.locator('#files li').allTextContents()).map((text) => text.replace(/ \(.*\)/, ''))).toEqual([
        'kernel.data: recording',
        'syscalls: program, library, kernel module or debug file',
        'kallsyms: kernel symbols',
      ]);
    });
  });

  it('merges several recordings', async () => {
    await open(async (page) => {
      await choose(page, [fixture('kernel.data'), fixture('threads.data')]);
      await page.locator('body[data-state=shown]').waitFor();
      expect(await page.textContent('#status')).toBe('kernel.data and 1 more');
      await rowsOf(page);
      expect(await page.frameLocator('#view').locator('#name').textContent()).toBe('kernel.data, threads.data');
    });
  });

  it('takes what is dropped on it, and on the graph', async () => {
    await open(async (page) => {
      const drop = async (target: string, name: string, path: string): Promise<void> => {
        const bytes = JSON.stringify([...readFileSync(path)]);
        await page.evaluate(`{
          const dropped = new DataTransfer();
          dropped.items.add(new File([new Uint8Array(${bytes})], ${JSON.stringify(name)}));
          ${target}.dispatchEvent(new DragEvent('drop', { dataTransfer: dropped, bubbles: true, cancelable: true }));
        }`);
      };
      await drop('document.getElementById("drop")', 'kernel.data', KERNEL[0]);
      await page.locator('body[data-state=shown]').waitFor();
      await rowsOf(page);
      await drop('document.getElementById("view").contentDocument.body', 'syscalls', KERNEL[1]);
      await page.locator('#aboutSummary', { hasText: '2 files' }).waitFor();
      await page.locator('body[data-state=shown]').waitFor();
      expect((await rowsOf(page)).filter((row) => row.includes('compute'))).toHaveLength(1);
    });
  });

  it('says why a file cannot be converted, and goes on with another one', async () => {
    await open(async (page) => {
      await choose(page, { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('nothing') });
      await page.locator('#status', { hasText: 'no recording' }).waitFor();
      await choose(page, CUT);
      await page.locator('body[data-state=failed]').waitFor();
      expect(await page.textContent('#status')).toBe('<b>cut.data cannot be converted');
      expect(await page.textContent('#problem')).toMatch(/^perf_file_header at 0x8: a file of 20 bytes/);
      await page.click('#restart');
      await page.locator('body[data-state=empty]').waitFor();
      await choose(page, fixture('threads.data'));
      await page.locator('body[data-state=shown]').waitFor();
      expect(await page.locator('#problem').isHidden()).toBe(true);
    });
  });

  it('says of each recording why it cannot be converted', async () => {
    await open(async (page) => {
      await choose(page, [CUT, { ...CUT, name: 'other.data' }]);
      await page.locator('body[data-state=failed]').waitFor();
      expect((await page.locator('#findings li').allTextContents()).map((text) => text.replace(/: perf_file_header.*/, ''))).toEqual([
        'data lost: <b>cut.data is not in the result',
        'data lost: other.data is not in the result',
      ]);
    });
  });

  it('asks for files when the place to drop them is clicked, or its button', async () => {
    // A page for each: in Firefox, the first dialog stays open.
    for (const [target, options] of [
      ['#drop', { position: { x: 10, y: 10 } }],
      ['#chooseHere', {}],
    ] as const) {
      await open(async (page) => {
        const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.click(target, options)]);
        expect(chooser.isMultiple()).toBe(true);
      });
    }
  });

  it('lets one select what the place to drop files says', async () => {
    await open(async (page) => {
      const choosers: unknown[] = [];
      page.on('filechooser', (chooser) => choosers.push(chooser));
      const { x, y } = (await page.locator('#drop p').nth(1).boundingBox())!;
      await page.mouse.move(x + 60, y + 8);
      await page.mouse.down();
      await page.mouse.move(x + 60, y - 200, { steps: 5 });
      await page.mouse.up();
      expect(await page.evaluate<number>('getSelection().toString().length')).toBeGreaterThan(0);
      await page.waitForTimeout(200);
      expect(choosers).toEqual([]);
    });
  });

  it('converts the recordings that can be read, and says which cannot', async () => {
    await open(async (page, viewer) => {
      await choose(page, [CUT, { ...CUT, name: 'kernel.data', buffer: readFileSync(KERNEL[0]) }]);
      await page.locator('body[data-state=shown]').waitFor();
      expect(await page.locator('#findings li').first().textContent()).toMatch(/^data lost: <b>cut.data is not in the result: perf_file_header at 0x8/);
      await rowsOf(page);
      expect(await page.frameLocator('#view').locator('#name').textContent()).toBe('kernel.data');
      expect(await page.textContent('#status')).toBe('kernel.data');
      expect((await saved(viewer, 'folded')).name).toBe('kernel.folded');
    });
  });

  it('keeps files that share a name, and writes out what could not be seen in it', async () => {
    await open(async (page) => {
      const named = (path: string): { name: string; mimeType: string; buffer: Buffer } => ({
        name: 'evil\u202egpj.data',
        mimeType: '',
        buffer: readFileSync(fixture(path)),
      });
      await choose(page, named('kernel.data'));
      await page.locator('body[data-state=shown]').waitFor();
      expect(await page.textContent('#status')).toBe('evil\\u202egpj.data');
      expect(await page.title()).toBe('evil\\u202egpj.data – perfconv');
      await choose(page, named('threads.data'));
      await page.locator('#status', { hasText: /^evil\\u202egpj.data and 1 more$/ }).waitFor();
      expect((await page.locator('#files li').allTextContents()).map((text) => text.replace(/ \(.*\)/, ''))).toEqual([
        'evil\\u202egpj.data: recording',
        'evil\\u202egpj.data: recording',
      ]);
    });
  });

  // Firefox has no command to choose a folder.
  test.skipIf(isMissing || browser === 'Firefox')('takes a folder with all that is in it', async () => {
    await open(async (page, { folder }) => {
      const chosen = join(folder, 'chosen');
      mkdirSync(join(chosen, 'bin'), { recursive: true });
      for (const path of KERNEL) copyFileSync(path, join(chosen, path.endsWith('syscalls') ? 'bin' : '.', basename(path)));
      await page.setInputFiles('#folderInput', chosen);
      await page.locator('body[data-state=shown]').waitFor();
      expect((await page.locator('#files li').allTextContents()).map((text) => text.replace(/ \(.*\)/, '')).sort()).toEqual([
        'chosen/bin/syscalls: program, library, kernel module or debug file',
        'chosen/kallsyms: kernel symbols',
        'chosen/kernel.data: recording',
      ]);
      expect((await rowsOf(page)).filter((row) => row.includes('compute'))).toHaveLength(1);
    });
  });

  it('takes the files of a directory recording as one', async () => {
    await open(async (page, { folder }) => {
      const recording = makeDirectoryRecording(folder);
      // Firefox has no command to choose a folder.
      if (browser === 'Firefox') {
        writeFileSync(join(recording, 'data.0'), '');
        await choose(page, [join(recording, 'data.0'), join(recording, 'data')]);
      } else await page.setInputFiles('#folderInput', recording);
      await page.locator('body[data-state=shown]').waitFor();
      const name = browser === 'Firefox' ? 'data' : 'web.data';
      expect(await page.textContent('#status')).toBe(name);
      expect((await page.locator('#files li').allTextContents()).map((text) => text.replace(/, .*\)/, ')'))).toEqual([`${name} (2 files): recording`]);
      // From the list of the kernel's symbols in it.
      if (browser === 'Chromium') expect((await rowsOf(page)).filter((row) => row.includes('recorded_list'))).toHaveLength(1);
    });
  });

  it('unpacks recordings that gzip, zstd and xz have compressed', async () => {
    await open(async (page, viewer) => {
      const named = (suffix: string, buffer: Buffer): { name: string; mimeType: string; buffer: Buffer } => ({
        name: `plain.data.${suffix}`,
        mimeType: '',
        buffer,
      });
      const packed = (suffix: string) => readFileSync(fileURLToPath(new URL(`../host/packed/plain.data.${suffix}`, import.meta.url)));
      const plain = readFileSync(fixture('plain.data'));
      const expected = Buffer.from(await (await (await openRecording(plain)).profile()).toBytes('folded'));
      // Browsers themselves unpack the first member only.
      const members = Buffer.concat([gzipSync(plain.subarray(0, 700)), gzipSync(plain.subarray(700))]);
      for (const file of [named('gz', gzipSync(plain)), named('gz', members), named('zst', packed('zst')), named('xz', packed('xz'))]) {
        await choose(page, file);
        await page.locator('body[data-state=shown]').waitFor();
        expect(await page.textContent('#status')).toBe(file.name);
        const { name, bytes } = await saved(viewer, 'folded');
        expect([name, bytes]).toEqual(['plain.folded', expected]);
        await page.click('#restart');
        await page.locator('body[data-ready][data-state=empty]').waitFor();
      }
    });
  });

  it('takes the list of kernel symbols that belongs to the recording, and says so', async () => {
    await open(async (page) => {
      const list = readFileSync(fixture('kallsyms'), 'utf8');
      // As if the kernel had been at another address.
      const moved = list.replaceAll(/^ffffffff8/gm, 'ffffffff9');
      expect(moved).not.toBe(list);
      const named = (name: string, text: string) => ({ name, mimeType: '', buffer: Buffer.from(text) });
      await choose(page, KERNEL);
      await page.locator('body[data-state=shown]').waitFor();
      const expected = await rowsOf(page);
      await choose(page, named('kallsyms', moved));
      await page.locator('#aboutSummary', { hasText: '4 files' }).waitFor();
      await page.locator('body[data-state=shown]').waitFor();
      expect(await rowsOf(page)).toEqual(expected);
      expect(await page.locator('#findings li').allTextContents()).toContain(
        'note: of 2 lists of kernel symbols, kallsyms is used: its _text is where it was recorded',
      );
      expect((await page.locator('#files li').allTextContents()).filter((text) => text.startsWith('kallsyms (2) '))).toHaveLength(1);
    });
  });

  it('takes equal lists of kernel symbols for one', async () => {
    await open(async (page) => {
      await choose(page, KERNEL);
      await page.locator('body[data-state=shown]').waitFor();
      await choose(page, { name: 'copy of kallsyms', mimeType: '', buffer: readFileSync(fixture('kallsyms')) });
      await page.locator('#aboutSummary', { hasText: '4 files' }).waitFor();
      await page.locator('body[data-state=shown]').waitFor();
      await rowsOf(page);
      expect((await page.locator('#findings li').allTextContents()).filter((text) => text.includes('kernel symbols'))).toEqual([]);
    });
  });

  it('says how to unpack what bzip2 has compressed', async () => {
    await open(async (page) => {
      const hint = 'plain.data.bz2 is compressed with bzip2, which perfconv does not unpack: run bunzip2 -k plain.data.bz2';
      await choose(page, { name: 'plain.data.bz2', mimeType: '', buffer: Buffer.from('BZh91AY&SY') });
      await page.locator('#problem', { hasText: hint }).waitFor();
      expect(await page.textContent('#status')).toBe('There is no recording among these files yet.');
      await choose(page, fixture('plain.data'));
      await page.locator('body[data-state=shown]').waitFor();
      expect(await page.locator('#problem').isHidden()).toBe(true);
      expect(await page.locator('#findings li').allTextContents()).toContain(hint);
    });
  });

  it('says that work in the background has ended, and goes on', async () => {
    await open(async (page, viewer) => {
      await page.addInitScript(`{
          const post = Worker.prototype.postMessage;
          Worker.prototype.postMessage = function (message) {
            if (window.isFailing) this.dispatchEvent(new ErrorEvent('error', { message: 'out of memory' }));
            else post.call(this, message);
          };
        }`);
      await page.reload();
      await page.locator('body[data-ready]').waitFor();
      await page.evaluate('window.isFailing = true');
      await choose(page, KERNEL[0]);
      await page.locator('#problem', { hasText: 'out of memory' }).waitFor();
      await page.evaluate('window.isFailing = false');
      await choose(page, KERNEL[0]);
      await page.locator('body[data-state=shown]').waitFor();
      expect(await page.locator('#problem').isHidden()).toBe(true);
      await page.evaluate('window.isFailing = true');
      await page.click('#saving button');
      await page.locator('#problem', { hasText: 'out of memory' }).waitFor();
      await page.evaluate('window.isFailing = false');
      await choose(page, KERNEL[1]);
      await page.locator('body[data-state=shown]').waitFor();
      expect((await rowsOf(page)).filter((row) => row.includes('compute'))).toHaveLength(1);
      expect((await saved(viewer, 'folded')).name).toBe('kernel.folded');
    });
  });

  it('never says that it is further than at the end', async () => {
    await open(async (page) => {
      await page.evaluate(`{
        window.shares = [];
        const { set, get } = Object.getOwnPropertyDescriptor(HTMLProgressElement.prototype, 'value');
        Object.defineProperty(document.getElementById('progress'), 'value', {
          get() { return get.call(this); },
          set(value) { shares.push(value / this.max); set.call(this, value); },
        });
      }`);
      await choose(page, { name: 'plain.data.gz', mimeType: '', buffer: gzipSync(readFileSync(fixture('plain.data'))) });
      await page.locator('body[data-state=shown]').waitFor();
      const shares = await page.evaluate<number[]>('shares');
      expect(Math.max(...shares)).toBeGreaterThan(0);
      expect(Math.max(...shares)).toBeLessThanOrEqual(1);
    });
  });

  it('reads recordings as the options say', async () => {
    await open(async (page, viewer) => {
      const convert = async (state: string): Promise<void> => {
        await page.click('#options button');
        await page.locator(`body[data-state=${state}]`).waitFor();
      };
      await choose(page, fixture('events.data'));
      await page.locator('body[data-state=shown]').waitFor();
      await page.locator('summary', { hasText: 'Options' }).click();
      const events = await page.evaluate<string[]>('[...document.querySelectorAll("#events option")].map((option) => option.value)');
      const recording = await openRecording(readFileSync(fixture('events.data')), { name: 'events.data' });
      expect(events).toEqual((await recording.profile()).events.map(({ name }) => name));
      await page.fill('[name=event]', events[1]);
      await page.fill('[name=time]', '10%-90%');
      await page.uncheck('[name=inlines]');
      await page.uncheck('[name=demangle]');
      await convert('shown');
      const profile = await recording.profile({ event: events[1], time: '10%-90%', inlines: false, demangle: 'none' });
      expect(profile.events.map(({ samples }) => samples > 0).filter(Boolean)).toHaveLength(1);
      expect((await saved(viewer, 'folded')).bytes).toEqual(Buffer.from(await profile.toBytes('folded')));
      expect(await page.locator('#findings li').count()).toBeGreaterThan(0);
      await page.fill('[name=time]', 'soon');
      await convert('failed');
      expect(await page.textContent('#problem')).toMatch(/^time soon: expected FROM,TO/);
      expect(await page.locator('#findings li').count()).toBe(0);
      await page.fill('[name=time]', '');
      await page.fill('[name=pid]', '999999, 999998');
      await convert('failed');
      // What is no number is not even tried.
      await page.fill('[name=pid]', 'x');
      await convert('failed');
      expect(await page.locator('[name=pid]:invalid').count()).toBe(1);
      await page.fill('[name=pid]', '');
      await convert('shown');
    });
  });

  it('has the keys of the graph work at once', async () => {
    await open(async (page) => {
      await page.focus('#choose');
      await choose(page, KERNEL[0]);
      await rowsOf(page);
      await page.evaluate(`new Promise((resolve) => {
        const look = () => (document.activeElement.id === 'view' ? resolve() : requestAnimationFrame(look));
        look();
      })`);
      await page.keyboard.press('/');
      await page.frameLocator('#view').locator('#search:focus').waitFor();
    });
  });

  it('saves what is being saved when files are added', async () => {
    await open(async (page, viewer) => {
      await choose(page, KERNEL[0]);
      await page.locator('body[data-state=shown]').waitFor();
      await page.selectOption('#format', 'folded');
      // In one step, so that nothing is saved before the files are there.
      const bytes = JSON.stringify([...readFileSync(KERNEL[1])]);
      const { name } = await savedBy(viewer, () =>
        page.evaluate(`{
          document.getElementById('saving').requestSubmit();
          const dropped = new DataTransfer();
          dropped.items.add(new File([new Uint8Array(${bytes})], 'syscalls'));
          window.dispatchEvent(new DragEvent('drop', { dataTransfer: dropped, cancelable: true }));
        }`),
      );
      expect(name).toBe('kernel.folded');
      await page.locator('#aboutSummary', { hasText: '2 files' }).waitFor();
      await page.locator('body[data-state=shown]').waitFor();
      expect(await page.textContent('#status')).toBe('kernel.data');
    });
  });

  it('says what a format cannot hold when it is saved', async () => {
    await open(async (page, viewer) => {
      await choose(page, fixture('events.data'));
      await page.locator('body[data-state=shown]').waitFor();
      await saved(viewer, 'folded');
      await page.locator('#findings', { hasText: /folded stacks hold only one event.*“Event” of “Options”/ }).waitFor({ state: 'attached' });
    });
  });

  it('can send nothing anywhere', async () => {
    await open(async (page, viewer) => {
      await choose(page, KERNEL[0]);
      await page.locator('body[data-state=shown]').waitFor();
      await rowsOf(page);
      const attempt = `fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')`;
      expect(await page.evaluate(attempt)).toBe('refused');
      expect(await page.frames()[1].evaluate(attempt)).toBe('refused');
      expect(viewer.problems.splice(0).filter((problem) => !/Content[ -]Security[ -]Policy|Fetch API/.test(problem))).toEqual([]);
    });
  });
});
