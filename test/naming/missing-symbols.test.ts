import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { COMMAND_LINE_OPTIONS, LIBRARY_OPTIONS } from '../../src/base/problems/option-words.ts';
import type { DsoSymbols } from '../../src/naming/dso-symbols.ts';
import { reportMissingSymbols } from '../../src/naming/missing-symbols.ts';
import { symbolHelp } from '../../src/naming/symbol-help.ts';
import type { SearchedPlace } from '../../src/symbolizer/inputs/search-log.ts';
import { UNIDENTIFIED_KERNEL } from '../../src/symbolizer/kernel/kernel-identity.ts';

function place(outcome: SearchedPlace['outcome'], more: Partial<SearchedPlace> = {}): SearchedPlace {
  return { place: '/opt/app/server', outcome, detail: '', holds: {}, uses: [], ...more };
}

/** A file without names. */
function dso(name: string, unnamedSamples: number, more: Partial<DsoSymbols> = {}): DsoSymbols {
  const places = [place('absent', { place: name })];
  return {
    name,
    kind: 'file',
    buildId: '',
    samples: unnamedSamples,
    unnamedSamples,
    allSamples: 1000,
    locations: 4,
    namedLocations: 0,
    lineLocations: 0,
    places,
    mayAskServers: true,
    ...more,
  };
}

function reported(...dsos: DsoSymbols[]): Record<string, string> {
  const diagnostics = new Diagnostics();
  reportMissingSymbols(dsos, diagnostics);
  return Object.fromEntries(diagnostics.list().map(({ code, severity, message }) => [`${severity} ${code}`, message]));
}

describe('missing symbols', () => {
  it('are reported for the binaries with the most samples, with what helps for the first', () => {
    const dsos = [dso('/lib/little.so', 3), dso('/lib/none.so', 0), dso('/opt/app/server', 612), dso('/lib/tiny.so', 0.5), dso('/lib/some.so', 40)];
    expect(reported(...dsos)).toEqual({
      'warning no-symbols':
        'no symbols found for /opt/app/server (61.2 % of the samples), /lib/some.so (4.0 %), /lib/little.so (0.3 %) and 2 others; ' +
        "for server: its file was not found: give the recorded files with { symfs: 'DIR' }",
      'info no-symbols-names': 'no symbols found for: /opt/app/server, /lib/some.so, /lib/little.so, /lib/tiny.so, /lib/none.so',
    });
    expect(reported(dso('/lib/none.so', 0))['warning no-symbols']).toContain('/lib/none.so (callers only); ');
    expect(reported(dso('/lib/tiny.so', 0.5))['warning no-symbols']).toContain('(< 0.1 % of the samples)');
  });

  it('are not looked for in the page in which the kernel runs probed instructions', () => {
    expect(symbolHelp(dso('[uprobes]', 1), [], COMMAND_LINE_OPTIONS)).toBe('it is no file: the kernel runs probed instructions there');
  });

  it('are reported without the middle of very long names and places', () => {
    const name = `/${'long/'.repeat(800)}server`;
    const message = reported(dso(name, 612, { places: [place('forbidden', { place: name })] }), dso(`${name}2`, 3))['warning no-symbols'];
    const short = (end: string): string => `${name.slice(0, 80)}…${`${name}${end}`.slice(-80)}`;
    expect(message).toBe(
      `no symbols found for ${short('')} (61.2 % of the samples), ${short('2')} (0.3 %); ` +
        `for server: there is no permission to read ${short(':')} convert the recording as a user, or in a program, that may read it`,
    );
  });

  it('are reported for a binary whose symbols do not cover a significant share', () => {
    const stripped = { places: [place('fits', { holds: { code: true, symbols: 'dynsym' }, uses: ['addresses', 'symbols'] })] };
    const message = reported(dso('/opt/app/server', 100, stripped))['warning few-symbols'];
    expect(message).toMatch(
      /^symbols do not cover all code of \/opt\/app\/server \(10\.0 % of the samples\); for server: it is stripped: install its debug symbols/,
    );
    expect(reported(dso('/opt/app/server', 9, stripped), dso('/opt/app/caller', 0, stripped))).toEqual({});
  });

  it('are not reported for memory that is no code', () => {
    expect(reported(dso('//anon', 10, { kind: 'anon' }), dso('/tmp/perf-7.map', 0, { kind: 'anon' }))).toEqual({});
    expect(reported(dso('/tmp/perf-7.map', 10, { kind: 'anon' }))['warning no-symbols']).toContain('node --perf-basic-prof');
  });
});

describe('what helps', () => {
  const fits = (holds: SearchedPlace['holds']): Partial<DsoSymbols> => ({ places: [place('fits', { holds })] });
  const NAMED = { namedLocations: 4, lineLocations: 0 };
  const LINES = { namedLocations: 4, lineLocations: 4 };

  it.each<[string, DsoSymbols, string]>([
    ['nothing if nothing is missing', dso('/bin/a', 1, LINES), ''],
    ['nothing if lines are not wanted', dso('/bin/a', 1, { ...fits({ symbols: 'symtab' }), ...NAMED, lineLocations: undefined }), ''],
    [
      'another file',
      dso('/bin/a', 1, { places: [place('other-build-id')] }),
      '/opt/app/server is not what was recorded: give the recorded file with --symfs DIR',
    ],
    [
      'the file, whatever another process with the same id runs',
      dso('/bin/a', 1, { places: [place('other-build-id', { place: '/proc/7/exe' })] }),
      'its file was not found',
    ],
    ['a deleted file under its name', dso('/opt/app/server (deleted)', 1, {}), 'give the file that ran, as DIR/server, with --symfs DIR'],
    [
      'a file in memory',
      dso('/memfd:tool (deleted)', 1, {}),
      'it was in memory only (memfd_create): give the file that ran, as DIR/memfd:tool, with --symfs DIR',
    ],
    ['a server if the build id is known', dso('/bin/a', 1, { buildId: 'ab' }), '--debuginfod URL'],
    ['a server for a kernel', dso('[kernel.kallsyms]', 1, { kind: 'kernel', buildId: 'ab' }), 'its vmlinux with --vmlinux FILE, or --debuginfod URL'],
    ['a server for a module', dso('[nf_tables]', 1, { kind: 'module', buildId: 'ab' }), '--debuginfod URL'],
    ['a server for a vdso', dso('[vdso]', 1, { kind: 'vdso', buildId: 'ab' }), '--buildid-dir DIR, or --debuginfod URL'],
    ['debug symbols of a stripped file', dso('/bin/a', 1, fits({ symbols: 'none' })), '--debug-dir DIR'],
    ['the whole file', dso('/bin/a', 1, fits({ symbols: 'none', isCut: true })), '/opt/app/server is cut off: give the whole file'],
    [
      'debug symbols of a stripped file, even if it is cut off at another place',
      dso('/bin/a', 1, { places: [place('fits', { holds: { code: true, isCut: true } }), place('fits', { holds: { code: true, symbols: 'none' } })] }),
      'it is stripped',
    ],
    ['the binary beside its debug file', dso('/bin/a', 1, fits({ code: false, symbols: 'symtab' })), 'does not say where the code was'],
    ['the file before it was stripped', dso('/bin/a', 1, fits({ symbols: 'dynsym' })), 'or give the unstripped file with --symfs DIR'],
    ['debug symbols for the lines of a stripped file', dso('/bin/a', 1, { ...fits({ symbols: 'dynsym' }), ...NAMED }), 'for files and lines: it is stripped'],
    [
      'the recorded file instead of a replaced one, whatever else that lacks',
      dso('/bin/a', 1, { places: [place('fits', { holds: { symbols: 'symtab' }, doubt: 'changed' })], ...NAMED }),
      '/opt/app/server may not be what was recorded: give the recorded file with --symfs DIR',
    ],
    [
      'the recorded file even if everything is named',
      dso('/bin/a', 1, { places: [place('fits', { doubt: 'changed' })], ...LINES }),
      'may not be what was recorded',
    ],
    [
      'the recorded file instead of an unreadable one',
      dso('/opt/app/server', 1, { places: [place('damaged')] }),
      '/opt/app/server is not a readable binary: give the recorded file with --symfs DIR',
    ],
    [
      'nothing for code in a file of another kind, unless that was replaced',
      dso('/opt/app/server', 1, { places: [place('damaged', { detail: 'not an ELF file' })] }),
      '/opt/app/server is not an ELF file: code that a runtime keeps in a format of its own, as .NET, SBCL and Wine do, cannot be named; if the file was replaced, give the recorded one with --symfs DIR',
    ],
    [
      'the recorded file if that has a build id',
      dso('/opt/app/server', 1, { buildId: 'ab', places: [place('damaged', { detail: 'ELF header at 0x0: not an ELF file' })] }),
      '/opt/app/server is not a readable binary: give the recorded file with --symfs DIR, or --debuginfod URL',
    ],
    ['what it is, for a file that never had a name', dso('/dev/shm/#94 (deleted)', 1), 'it is a file that never had a name (O_TMPFILE)'],
    ['the file that ran, if it has a name like those', dso('/opt/app#94 (deleted)', 1), 'give the file that ran, as DIR/app#94, with --symfs DIR'],
    ['the file if only a debug file is damaged', dso('/bin/a', 1, { places: [place('damaged')] }), 'its file was not found'],
    [
      'to name the directory of a map that was not trusted',
      dso('/tmp/perf-7.map', 1, { kind: 'anon', places: [place('refused', { place: '/tmp/perf-7.map' })] }),
      '--perf-map-dir /tmp trusts what is there',
    ],
    ['nothing if there is debug information without lines of the code', dso('/bin/a', 1, { ...fits({ symbols: 'symtab', debugInfo: true }), ...NAMED }), ''],
    ['debug information for lines', dso('/bin/a', 1, { ...fits({ symbols: 'symtab' }), ...NAMED }), 'compile with -g'],
    ["the kernel's list", dso('[kernel.kallsyms]', 1, { kind: 'kernel' }), '--kallsyms FILE'],
    [
      "this machine's list if the recording does not say which kernel it was",
      dso('[kernel.kallsyms]', 1, { kind: 'kernel', places: [place('skipped', { place: '/proc/kallsyms', detail: UNIDENTIFIED_KERNEL })] }),
      "give --kallsyms /proc/kallsyms if this machine made the recording and has not been restarted since; else a copy of the recording machine's /proc/kallsyms",
    ],
    ['privilege', dso('[kernel.kallsyms]', 1, { kind: 'kernel', places: [place('damaged', { detail: 'kptr_restrict' })] }), 'run as root'],
    ['a vmlinux for lines', dso('[kernel.kallsyms]', 1, { kind: 'kernel', ...NAMED }), '--vmlinux FILE'],
    ["the recording machine's cache", dso('[vdso]', 1, { kind: 'vdso' }), '--buildid-dir DIR'],
  ])('is %s', (_, missing, help) => {
    if (help === '') expect(symbolHelp(missing, [], COMMAND_LINE_OPTIONS)).toBe('');
    else expect(symbolHelp(missing, [], COMMAND_LINE_OPTIONS)).toContain(help);
  });

  it('is permission if the file at the recorded path may not be read', () => {
    const forbidden = place('forbidden', { place: '/mnt/opt/app/server' });
    expect(symbolHelp(dso('/opt/app/server', 1, { places: [forbidden] }), [], COMMAND_LINE_OPTIONS)).toBe(
      'there is no permission to read /mnt/opt/app/server: convert the recording as a user, or in a program, that may read it',
    );
    const ofCache = place('forbidden', { place: '/home/u/.debug/.build-id/aa/1111/elf' });
    const ofProcess = place('forbidden', { place: '/proc/7/root/opt/app/server' });
    expect(symbolHelp(dso('/opt/app/server', 1, { places: [ofCache, ofProcess] }), [], COMMAND_LINE_OPTIONS)).toContain('its file was not found');
  });

  it('names options as users of the library give them', () => {
    expect(symbolHelp(dso('/bin/a', 1, { buildId: 'ab' }), [], LIBRARY_OPTIONS)).toBe(
      "its file was not found: give the recorded files with { symfs: 'DIR' }, or { debuginfod: 'URL' }",
    );
  });

  it('is not a server if one was asked', () => {
    expect(
      symbolHelp(
        dso('/bin/a', 1, { buildId: 'ab', places: [place('absent', { place: 'https://debuginfod.example/buildid/ab/debuginfo' })] }),
        [],
        COMMAND_LINE_OPTIONS,
      ),
    ).not.toContain('debuginfod');
  });

  it('is not a server if none would be asked', () => {
    for (const kind of ['file', 'kernel', 'module', 'vdso'] as const) {
      const missing = dso('/bin/a', 1, { kind, buildId: 'ab' });
      expect(symbolHelp(missing, [], COMMAND_LINE_OPTIONS)).toContain(', or --debuginfod URL');
      expect(symbolHelp({ ...missing, mayAskServers: false }, [], COMMAND_LINE_OPTIONS)).toMatch(/give .*(?<!--debuginfod URL)$/);
    }
  });
});
