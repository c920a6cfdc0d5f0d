import { expect, test } from 'vitest';
import { defaultOutputName, isGzipped, outputFormatOf } from '../../src/pipeline/formats.ts';

test.each([
  ['a.pb.gz', 'pprof', true],
  ['a.pb', 'pprof', false],
  ['a.pprof', 'pprof', true],
  ['dir.txt/A.PB.GZ', 'pprof', true],
  ['a.speedscope.json', 'speedscope', false],
  ['a.speedscope.json.gz', 'speedscope', true],
  ['a.trace.json', 'chrome', false],
  ['a.cpuprofile', 'cpuprofile', false],
  ['a.cpuprofile.gz', 'cpuprofile', true],
  ['a.csv', 'csv', false],
  ['tables/', 'csv', false],
  ['a.txt', 'script', false],
  ['a.txt.gz', 'script', true],
  ['a.folded', 'folded', false],
  ['.folded', 'folded', false],
  ['a.firefox.json', 'firefox', false],
  ['a.firefox.json.gz', 'firefox', true],
  ['a.html', 'html', false],
  ['a.html.gz', 'html', true],
  ['a.parquet', 'parquet', false],
  ['a.parquet.gz', 'parquet', true],
  ['a.otlp', 'otlp', false],
  ['a.otlp.gz', 'otlp', true],
])('%s means format %s', (path, format, gzip) => {
  expect(outputFormatOf(path)).toEqual({ format, gzip });
});

test.each(['a', 'a.json', 'a.gz', 'a.data', 'pprof', 'a.profile.json', 'a.htm', '-'])('%s means no format', (path) => {
  expect(outputFormatOf(path)).toBeUndefined();
});

test('a format that was chosen by option is compressed if the name says so, pprof also if it says nothing', () => {
  expect(isGzipped('folded', 'out')).toBe(false);
  expect(isGzipped('folded', 'out.gz')).toBe(true);
  expect(isGzipped('pprof', '-')).toBe(true);
  expect(isGzipped('pprof', 'out.pb')).toBe(false);
});

test('default names keep everything except .data', () => {
  expect(defaultOutputName('perf.data', 'pprof')).toBe('perf.pb.gz');
  expect(defaultOutputName('runs/web.data', 'speedscope')).toBe('runs/web.speedscope.json');
  expect(defaultOutputName('runs/web.data/', 'pprof')).toBe('runs/web.pb.gz');
  expect(defaultOutputName('web.data.zst', 'pprof')).toBe('web.pb.gz');
  expect(defaultOutputName('web.gz', 'pprof')).toBe('web.gz.pb.gz');
  expect(defaultOutputName('perf.data.old', 'chrome')).toBe('perf.data.old.trace.json');
  expect(defaultOutputName('web.data', 'cpuprofile')).toBe('web.cpuprofile');
  expect(defaultOutputName('web', 'csv')).toBe('web.csv');
  expect(defaultOutputName('runs/.data', 'folded')).toBe('runs/.data.folded');
});
