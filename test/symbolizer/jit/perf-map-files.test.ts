import { beforeEach, describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { SymbolSearch } from '../../../src/symbolizer/inputs/search-log.ts';
import { Symbolizer, type SymbolizerOptions } from '../../../src/symbolizer/symbolizer.ts';
import { MadeFiles } from '../../support/builders/made-symbol-files.ts';

let files: MadeFiles;
let search: SymbolSearch;
beforeEach(() => {
  files = new MadeFiles();
  search = new SymbolSearch();
});

function put(path: string, text: string): void {
  files.content.set(path, new TextEncoder().encode(text));
}

/** The name found at 0x1004. */
async function nameOf(name: string, options: Partial<SymbolizerOptions> = {}): Promise<string | undefined> {
  const symbolizer = new Symbolizer(files, { debugDirs: [], compatPerf: false, ...options }, new Diagnostics());
  const code = await symbolizer.symbolsFor({ name, kind: 'anon', buildId: '', osRelease: '' }, { lines: true, search });
  expect(files.openCount).toBe(0);
  const index = code?.table?.find(0x1004) ?? -1;
  return index < 0 ? undefined : code!.table!.name(index);
}

describe('maps of JITs', () => {
  it('are found where perf looks for them', async () => {
    put('/tmp/perf-12.map', '1000 10 f\n');
    expect(await nameOf('/tmp/perf-12.map')).toBe('f');
    expect(search.places).toMatchObject([{ place: '/tmp/perf-12.map', outcome: 'fits', uses: ['symbols'] }]);
    expect(await nameOf('/tmp/perf-13.map')).toBeUndefined();
  });

  it('are looked for in perfMapDir first, then in what the process sees as /tmp', async () => {
    put('/maps/perf-12.map', '1000 10 kept\n');
    put('/proc/12/status', 'Name:\tx\nNSpid:\t12\t7\nPid:\t12\n');
    put('/proc/12/root/tmp/perf-7.map', '1000 10 container\n');
    put('/tmp/perf-12.map', '1000 10 other\n');
    expect(await nameOf('/tmp/perf-12.map', { perfMapDir: '/maps' })).toBe('kept');
    expect(await nameOf('/tmp/perf-12.map')).toBe('container');
    files.content.delete('/proc/12/root/tmp/perf-7.map');
    expect(await nameOf('/tmp/perf-12.map')).toBe('other');
    files.content.delete('/tmp/perf-12.map');
    put('/proc/12/status', 'NSpid:\t12\n');
    put('/proc/12/root/tmp/perf-12.map', '1000 10 own root\n');
    expect(await nameOf('/tmp/perf-12.map')).toBe('own root');
  });

  it('of another machine are not looked for on this one', async () => {
    put('/tmp/perf-12.map', '1000 10 other\n');
    put('/target/tmp/perf-12.map', '1000 10 f\n');
    expect(await nameOf('/tmp/perf-12.map', { symfs: '/target' })).toBe('f');
    expect(await nameOf('/tmp/perf-12.map', { symfs: '/elsewhere' })).toBeUndefined();
    expect(files.asked).not.toContain('/tmp/perf-12.map');
  });

  it('give no symbols if they list nothing', async () => {
    put('/maps/perf-12.map', '');
    put('/tmp/perf-12.map', 'nothing\nat all\n');
    expect(await nameOf('/tmp/perf-12.map', { perfMapDir: '/maps' })).toBeUndefined();
    expect(search.places.map(({ outcome }) => outcome)).toEqual(['damaged', 'damaged', 'absent']);
  });

  it('are listed with the number of their damaged lines', async () => {
    put('/tmp/perf-12.map', '1000 10 f\nx\ny\n');
    expect(await nameOf('/tmp/perf-12.map')).toBe('f');
    expect(search.places[0].detail).toBe('2 of its lines could not be parsed');
  });

  it.each(['[heap]', '//anon', '[stack]', '/tmp/perf-12.map.map', '/tmp/perf-.map', '/tmp/perf-1/../2.map', '/tmp/perf-99999999999.map', ''])(
    'are not looked for under the name %j',
    async (name) => {
      expect(await nameOf(name)).toBeUndefined();
      expect(files.asked).toEqual([]);
    },
  );
});
