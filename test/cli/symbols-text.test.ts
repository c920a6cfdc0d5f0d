import { expect, it } from 'vitest';
import { symbolsText } from '../../src/cli/printing/symbols-text.ts';
import type { DsoSymbols } from '../../src/naming/dso-symbols.ts';
import type { SearchedPlace } from '../../src/symbolizer/inputs/search-log.ts';

const ID = 'aa11111111111111111111111111111111111111';
const place = (path: string, outcome: SearchedPlace['outcome'], more: Partial<SearchedPlace> = {}): SearchedPlace => ({
  place: path,
  outcome,
  detail: '',
  holds: {},
  uses: [],
  ...more,
});
/** With what belongs together on one line: texts are wrapped. */
const unwrapped = (text: string): string => text.replace(/\n {17}/g, ' ');
const counts = { allSamples: 1000, locations: 40, namedLocations: 12, lineLocations: 0, mayAskServers: true };

it('the text about symbols mentions lines only if they were looked for', () => {
  const text = symbolsText([
    { name: '/bin/a', kind: 'file', buildId: '', samples: 1, unnamedSamples: 0, ...counts, namedLocations: 40, lineLocations: undefined, places: [] },
  ]);
  expect(text).toContain('40 addresses: all named\n');
  expect(text).not.toMatch(/line|helps/);
});

it('the text about symbols tells how to get the rest of split debug information', () => {
  const places = [place('/opt/app', 'fits', { uses: ['addresses', 'symbols', 'lines'] }), place('/build/a.dwo', 'absent', { detail: 'the rest of one unit' })];
  const dso: DsoSymbols = {
    name: '/opt/app',
    kind: 'file',
    buildId: '',
    samples: 1,
    unnamedSamples: 0,
    ...counts,
    namedLocations: 40,
    lineLocations: 40,
    places,
  };
  expect(unwrapped(symbolsText([dso]))).toContain('what helps     for all inlined functions: give the directory of a.dwo with --debug-dir DIR');
  expect(symbolsText([{ ...dso, places: places.slice(0, 1) }])).not.toContain('what helps');
});

it('the text about symbols tells what was found where, in lines of up to 100 columns', () => {
  const dsos: DsoSymbols[] = [
    {
      name: '/opt/app/server',
      kind: 'file',
      buildId: ID,
      samples: 612,
      unnamedSamples: 400,
      ...counts,
      places: [
        place('/opt/app/server', 'other-build-id', { detail: 'its build id is bb22222222222222222222222222222222222222' }),
        place('/home/u/.debug/.build-id/aa/1111/elf', 'fits', { holds: { code: true, symbols: 'dynsym', debugInfo: false }, uses: ['addresses', 'symbols'] }),
        place('.gnu_debugdata in /home/u/.debug/.build-id/aa/1111/elf', 'damaged', { detail: 'the xz data cannot be read: it is cut off' }),
        place('/opt/app/server.debug', 'absent'),
        place('/opt/app/.debug/server.debug', 'absent'),
        place('/usr/lib/debug/opt/app/server', 'other-crc', { detail: 'its CRC is not the one in .gnu_debuglink' }),
        place('/usr/lib/debug/opt/app/server\n', 'fits', { holds: { symbols: 'none' } }),
        place(`https://d.example/buildid/${ID}/debuginfo`, 'failed', { detail: 'it answered with status 503' }),
      ],
    },
    { name: '/tmp/perf-7.map', kind: 'anon', buildId: '', samples: 0, unnamedSamples: 0, ...counts, locations: 1, namedLocations: 0, places: [] },
    { name: 'base.apk', kind: 'file', buildId: '', samples: 1, unnamedSamples: 0, ...counts, namedLocations: 40, lineLocations: 40, places: [] },
  ];
  const text = symbolsText(dsos);
  expect(text).toBe(`symbols of 3 binaries, the most sampled first

/opt/app/server
  61.2 % of the samples (612); 40 addresses: 12 named, none with a line
  build id ${ID}
  different file /opt/app/server
                 its build id is bb22222222222222222222222222222222222222
  used           /home/u/.debug/.build-id/aa/1111/elf
                 for addresses and functions; it has no symbols but those of dynamic linking
                 (.dynsym) and no debug information
  not readable   .gnu_debugdata in /home/u/.debug/.build-id/aa/1111/elf
                 the xz data cannot be read: it is cut off
  not there      /opt/app/server.debug
                 /opt/app/.debug/server.debug
  different file /usr/lib/debug/opt/app/server
                 its CRC is not the one in .gnu_debuglink
  not useful     /usr/lib/debug/opt/app/server\\n
                 it has no symbols
  no answer      https://d.example/buildid/${ID}/debuginfo
                 it answered with status 503
  what helps     it is stripped: install its debug symbols (package …-dbgsym, …-dbg or …-debuginfo),
                 give them with --debug-dir DIR, or give the unstripped file with --symfs DIR

/tmp/perf-7.map
  no samples of its own, callers only; 1 address: none named, none with a line
  nothing to look for: this is not a file
  what helps     code made at run time has names if /tmp/perf-7.map or a jitdump file is written and
                 kept: node --perf-basic-prof, java -XX:+UnlockDiagnosticVMOptions
                 -XX:+DumpPerfMapAtExit, python -X perf, DOTNET_PerfMapEnabled=1, erl +JPperf true,
                 mono --jitmap

base.apk
  0.1 % of the samples (1); 40 addresses: all named, all with a line
  the recording itself has the names
`);
  expect(text.split('\n').filter((line) => line.length > 100)).toEqual([]);
});

it('the text about symbols calls files used by what they named', () => {
  const holds = { code: true, symbols: 'dynsym', debugInfo: true } as const;
  const taken = place('/opt/app/server', 'fits', { holds, uses: ['addresses', 'symbols', 'lines'], detail: 'and more' });
  const dso: DsoSymbols = { name: '/opt/app/server', kind: 'file', buildId: ID, samples: 1, unnamedSamples: 1, ...counts, places: [taken] };
  const textOf = (found: Partial<DsoSymbols>): string => unwrapped(symbolsText([{ ...dso, ...found }]));
  expect(textOf({ namedLocations: 0, lineLocations: 0 })).toContain(
    '  not useful     /opt/app/server ' +
      'it names none of the addresses, and it has no lines for them; it has no symbols but those of dynamic linking (.dynsym); and more\n',
  );
  expect(textOf({ namedLocations: 3, lineLocations: 0 })).toContain('for addresses and functions; it has no lines for them; it has');
  expect(textOf({ namedLocations: 3, lineLocations: 3 })).toContain('for addresses, functions, files and lines; it has');
});
