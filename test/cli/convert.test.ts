import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FORMATS } from '../../src/pipeline/formats.ts';
import {
  emptyRecording,
  fileRecording,
  lossyRecording,
  pipeRecording,
  statRecording,
  truncatedRecording,
} from '../support/builders/recordings/cli-recordings.ts';
import { type AttrSpec, encodeFile, record } from '../support/builders/recordings/perf-encoder.ts';
import { SwitchRecords } from '../support/builders/recordings/switch-recordings.ts';
import { runMain } from '../support/programs/run-main.ts';
import { readHtml } from '../support/readers/read-html.ts';
import { readParquet } from '../support/readers/read-parquet.ts';

let dir: string;
const at = (name: string): string => join(dir, name);
const put = (name: string, bytes: Uint8Array | string): string => {
  writeFileSync(at(name), bytes);
  return at(name);
};
/** The start of a tar archive: the header of its first file. */
function tarOf(name: string): Uint8Array {
  const header = Buffer.alloc(512);
  header.write(name);
  header.write('ustar', 257);
  return header;
}
const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-cli-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

describe('outputs', () => {
  test('without options, a compressed pprof profile is written beside the recording, and its path is printed', async () => {
    const result = await runMain([put('web.data', fileRecording())]);
    expect(result.status).toBe(0);
    expect(result.stdout).toHaveLength(0);
    expect(result.stderr).toContain(`perfconv: wrote ${at('web.pb.gz')}\n`);
    const bytes = readFileSync(at('web.pb.gz'));
    expect(gunzipSync(bytes).includes('page-faults')).toBe(true);
    // No time in the gzip header, so that the same input gives the same bytes.
    expect(bytes.readUInt32LE(4)).toBe(0);
  });

  test('names decide the formats of several outputs', async () => {
    const input = put('perf.data', fileRecording());
    const names = ['a.pb', 'a.pb.gz', 'a.pprof', 'a.speedscope.json', 'a.trace.json.gz', 'a.txt', 'a.folded', 'a.folded.gz', 'tables.csv'];
    const result = await runMain([...names.flatMap((name) => ['-o', at(name)]), input]);
    expect(result.status).toBe(0);
    expect(result.stderr).not.toContain('wrote');
    expect(readdirSync(dir).sort()).toEqual([...names, 'perf.data'].sort());
    for (const name of names)
      if (name !== 'tables.csv') expect([name, isGzip(readFileSync(at(name)))]).toEqual([name, name.endsWith('.gz') || name.endsWith('.pprof')]);
    expect(gunzipSync(readFileSync(at('a.pb.gz')))).toEqual(readFileSync(at('a.pb')));
    expect(gunzipSync(readFileSync(at('a.folded.gz')))).toEqual(readFileSync(at('a.folded')));
    expect(JSON.parse(readFileSync(at('a.speedscope.json'), 'utf8')).exporter).toMatch(/^perfconv@\d/);
    expect(JSON.parse(gunzipSync(readFileSync(at('a.trace.json.gz'))).toString()).traceEvents.length).toBeGreaterThan(0);
    expect(readFileSync(at('a.txt'), 'utf8')).toContain('cpu-clock: ');
    expect(readFileSync(at('a.folded'), 'utf8')).toBe('app;[app];[app] 2000000\n');
    expect(readdirSync(at('tables.csv')).sort()).toEqual(['overview.csv', 'processes.csv', 'results.csv', 'stat.csv']);
  });

  test('a second conversion gives the same bytes in every format', async () => {
    const input = put('perf.data', fileRecording(50));
    for (const run of ['1', '2']) {
      const outputs = [`${run}.pb.gz`, `${run}.speedscope.json.gz`, `${run}.trace.json`, `${run}.txt`, `${run}.folded`, `${run}.csv`];
      expect((await runMain([...outputs.flatMap((name) => ['-o', at(name)]), input])).status).toBe(0);
    }
    const files = (run: string): string[] =>
      readdirSync(dir, { recursive: true, withFileTypes: true })
        .flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []))
        .filter((path) => path.startsWith(at(run)))
        .sort();
    expect(files('1')).toHaveLength(9);
    expect(files('1').map((path) => readFileSync(path))).toEqual(files('2').map((path) => readFileSync(path)));
  });

  test('-o - writes only the result to standard output', async () => {
    const input = put('perf.data', fileRecording());
    const result = await runMain(['-t', 'folded', '-o', '-', input]);
    expect(result.status).toBe(0);
    expect(result.stdout.toString()).toBe('app;[app];[app] 2000000\n');
    expect(readdirSync(dir)).toEqual(['perf.data']);
    expect(isGzip((await runMain(['-t', 'pprof', '-o', '-', input])).stdout)).toBe(true);
  });

  test('with several outputs, -t applies to the one whose name says no format', async () => {
    const result = await runMain(['-t', 'folded', '-o', '-', '-o', at('a.pb'), put('perf.data', fileRecording())]);
    expect(result.status).toBe(0);
    expect(result.stdout.toString()).toBe('app;[app];[app] 2000000\n');
    expect(readFileSync(at('a.pb')).includes('page-faults')).toBe(true);
  });

  test('a page says which part of its recordings it shows', async () => {
    const inputs = [put('a.data', fileRecording()), put('b.data', fileRecording())];
    const filterOf = async (...args: string[]): Promise<string> => readHtml((await runMain(['-q', '-t', 'html', '-o', '-', ...args])).stdout).filter;
    expect(await filterOf(inputs[0])).toBe('');
    expect(await filterOf('--comm', 'app', '--time', '10%-100%', inputs[0])).toBe('comm app, time 10%-100%');
    expect(await filterOf('--comm', 'app', ...inputs)).toBe('comm app');
  });

  test('tables go into an existing directory, and leave its other files alone', async () => {
    mkdirSync(at('out'));
    put('out/stat.csv', 'old');
    put('out/notes.txt', 'mine');
    expect((await runMain(['-o', at('out'), put('perf.data', fileRecording())])).status).toBe(0);
    expect(readFileSync(at('out/stat.csv'), 'utf8')).toMatch(/^record,count/);
    expect(readFileSync(at('out/notes.txt'), 'utf8')).toBe('mine');
    expect(readdirSync(dir).sort()).toEqual(['out', 'perf.data']);
  });

  test('several inputs without -o are converted one by one, even if one is bad', async () => {
    const result = await runMain([put('a.data', fileRecording()), put('b.data', 'text that is no recording'), put('c.data', pipeRecording())]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain(`perfconv: ${at('b.data')}: not a perf.data file`);
    expect(readdirSync(dir).sort()).toEqual(['a.data', 'a.pb.gz', 'b.data', 'c.data', 'c.pb.gz']);
  });

  test('--no-demangle cannot be combined with --demangle-style', async () => {
    const result = await runMain(['-t', 'script', '--no-demangle', '--demangle-style', 'simple', '-o', '-', put('perf.data', fileRecording())]);
    expect(result.status).toBe(2);
    expect(result.stderr).toContain('--no-demangle cannot be combined with --demangle-style');
  });

  test('a table of samples is the same in a file, through a pipe and in a .gz file, which has a warning', async () => {
    const input = put('perf.data', fileRecording());
    const piped = (await runMain(['-q', '-t', 'parquet', '-o', '-', input])).stdout;
    await runMain(['-q', '-o', at('a.parquet'), input]);
    expect(readFileSync(at('a.parquet'))).toEqual(piped);
    const { status, stderr } = await runMain(['-o', at('a.parquet.gz'), input]);
    expect(gunzipSync(readFileSync(at('a.parquet.gz')))).toEqual(piped);
    expect(status).toBe(0);
    expect(stderr).toContain('perfconv: warning: readers of Parquet do not unpack .gz files, and what is in it is compressed already: leave out .gz\n');
    expect((await readParquet(piped)).length).toBeGreaterThan(0);
  });
});

describe('standard input', () => {
  test.each([
    ['pipe form', pipeRecording],
    ['file form', fileRecording],
  ])('can be a recording in %s from a pipe, and the result goes to standard output', async (_, recording) => {
    const result = await runMain(['-t', 'folded', '-'], { stdin: recording() });
    expect(result.status).toBe(0);
    expect(result.stdout.toString()).toBe('app;[app];[app] 2000000\n');
  });

  test('can be given as - after --', async () => {
    expect((await runMain(['-t', 'folded', '--', '-'], { stdin: pipeRecording() })).stdout.toString()).toContain('app;');
  });

  test.skipIf(!existsSync('/dev/fd'))('can be given as a descriptor by its name, beside which no file is made', async () => {
    const fd = openSync(put('web.data', fileRecording()), 'r');
    const result = await runMain(['-t', 'folded', `/dev/fd/${fd}`]);
    closeSync(fd);
    expect(result).toMatchObject({ status: 0, stderr: expect.not.stringContaining('wrote') });
    expect(result.stdout.toString()).toContain('app;');
  });

  test('can come byte by byte', async () => {
    const stdin = new PassThrough();
    const run = runMain(['-t', 'folded', '-'], { stdin });
    for (const byte of pipeRecording()) stdin.write(Uint8Array.of(byte));
    stdin.end();
    expect((await run).stdout.toString()).toBe('app;[app];[app] 2000000\n');
  });

  test('is refused after its first bytes if it never ends', async () => {
    const stdin = new PassThrough();
    stdin.write(Buffer.alloc(1000, 'yes\n'));
    const result = await runMain(['-t', 'folded', '-'], { stdin });
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(/^perfconv: standard input: not a perf.data file: it is text/);
    expect(stdin.destroyed).toBe(true);
  });
});

describe('errors', () => {
  const failing: [what: string, bytes: Uint8Array | string, message: RegExp][] = [
    ['an empty file', '', /not a perf.data file: it is empty$/],
    ['text', '#include <stdio.h>\n', /not a perf.data file: it is text that starts with "#include"$/],
    ['an ELF binary', '\x7fELF\x02\x01\x01 and so on and on', /not a perf.data file: it is an ELF binary$/],
    [
      'a jitdump file',
      'DTiJ\x01\0\0\0\x28\0\0\0\x3e\0\0\0',
      /not a perf.data file: it is a jitdump file, which has the code of a JIT but no samples; give the recording instead$/,
    ],
    ['a big-endian jitdump file', 'JiTD\0\0\0\x01\0\0\0\x28\0\0\0\x16', /it is a jitdump file, which has/],
    ['damaged gzip data', Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6, 7), /: the gzip data cannot be read: [\w\s]+$/],
    ['text packed by gzip', gzipSync('#include <stdio.h>\n'), /not a perf.data file: it is text that starts with "#include"$/],
    ['a tar archive of a directory recording', tarOf('perf.data/'), /not a perf.data file: it is a tar archive; unpack it with tar first$/],
    ['a tar archive packed by gzip', gzipSync(tarOf('perf.data')), /not a perf.data file: it is a tar archive; unpack it with tar first$/],
    ['a zip archive', 'PK\x03\x04\x14\0\0\0\b\0 and so on and on', /not a perf.data file: it is a zip archive; unpack it with unzip first$/],
    ['a recording of perf stat', statRecording(), /the recording holds counts of perf stat, not samples$/],
    ['a recording without samples', emptyRecording(), /the recording holds no samples$/],
    [
      "a directory recording's main file",
      encodeFile({ attrs: [{ name: 'cpu-clock', sampleType: ['ip'] }], records: [], features: { dirFormat: 1n } }),
      /the recording holds no samples: if they are in other files of its directory \(data\.0 …\), give the directory$/,
    ],
  ];
  test.each(failing)('%s is refused', async (_, bytes, message) => {
    const input = put('in.data', bytes);
    const result = await runMain([input]);
    expect(result.status).toBe(1);
    expect(result.stderr.trimEnd()).toMatch(message);
    expect(result.stderr.startsWith(`perfconv: ${input}: `)).toBe(true);
    expect(result.stderr.split('\n')).toHaveLength(2);
    expect(readdirSync(dir)).toEqual(['in.data']);
  });

  test('a missing input, a directory, and a recording without its main file are refused', async () => {
    expect(await runMain([at('nosuch.data')])).toMatchObject({ status: 1, stderr: `perfconv: ${at('nosuch.data')}: no such file or directory\n` });
    expect(await runMain([dir])).toMatchObject({ status: 1, stderr: `perfconv: ${dir}: is a directory, not a recording\n` });
    put('data.0', '');
    expect(await runMain([dir])).toMatchObject({
      status: 1,
      stderr: `perfconv: ${dir}: is a directory recording, but lacks the file data, which holds the events' attrs\n`,
    });
  });

  test('a filter by a missing event is refused, naming those that exist', async () => {
    const result = await runMain(['--event', 'cycles', put('perf.data', fileRecording())]);
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(
      /none of the samples in the recording \(3\) passes the filters: the recording has no event cycles; it has cpu-clock, page-faults\n$/,
    );
  });

  test('an event of times off the CPU is refused with a hint at --off-cpu', async () => {
    const input = put('switches.data', new SwitchRecords().tick(101, 1).sched(10, { prev: 101, state: 1, next: 102 }).file());
    const asked = await runMain(['--event', 'off-cpu:sleeping', input]);
    expect(asked.status).toBe(1);
    expect(asked.stderr).toMatch(
      /the recording has no event off-cpu:sleeping; it has .*; --off-cpu adds the events for time off the CPU where switches were recorded\n$/,
    );
    expect((await runMain(['report', '--event', 'off-cpu:sleeping', '--off-cpu', input])).status).toBe(0);
    expect((await runMain(['report', '--event', 'off-cpu:away', '--off-cpu', input])).stderr).not.toContain('adds');
  });

  test('a failing filter by CPU says if samples carry none', async () => {
    const { status, stderr } = await runMain(['--cpu', '0', 'fixtures/threads.data']);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/none of the samples in the recording \(\d+\) passes the filters: they carry no CPU: record with perf record --sample-cpu\n$/),
    ]);
  });

  test('a failing filter by time says when samples were taken, if the header does', async () => {
    const { status, stderr } = await runMain(['--time', '12.5,13', 'fixtures/threads.data']);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/passes the filters: they are outside the time range: the first was taken at 2926\.143383731, the last at 2926\.279706803\n$/),
    ]);
    for (const time of ['+1,', '2926.3,', ',2926.1'])
      expect([time, (await runMain(['--time', time, 'fixtures/threads.data'])).stderr]).toEqual([
        time,
        expect.stringContaining('they are outside the time range'),
      ]);
    const other = await runMain(['--time', '2926.2,2926.3', '--comm', 'nosuch', 'fixtures/threads.data']);
    expect([other.status, other.stderr]).toEqual([1, expect.stringMatching(/passes the filters\n$/)]);
  });

  test('a recording without samples can be written as tables', async () => {
    expect((await runMain(['-o', at('out.csv'), put('perf.data', emptyRecording())])).status).toBe(0);
    expect(readFileSync(at('out.csv/stat.csv'), 'utf8')).toContain('COMM,1');
  });

  test.each([[[]], [['report']]])('missing or wrong symbol files and directories are refused: %j', async (command) => {
    const input = put('perf.data', fileRecording());
    put('kallsyms', 'ffffffff81000000 T _text\n');
    const cases: [args: string[], message: string][] = [
      [['--kallsyms', at('missing')], `--kallsyms ${at('missing')}: no such file or directory`],
      [['--kallsyms', dir], `--kallsyms ${dir}: is a directory, not a file`],
      [['--vmlinux', at('kallsyms')], `--vmlinux ${at('kallsyms')}: is not an ELF file`],
      [['--guestvmlinux', at('kallsyms')], `--guestvmlinux ${at('kallsyms')}: is not an ELF file`],
      [['--symfs', input], `--symfs ${input}: is not a directory`],
      [['--debug-dir', dir, '--debug-dir', at('missing')], `--debug-dir ${at('missing')}: no such file or directory`],
      [['--buildid-dir', input], `--buildid-dir ${input}: is not a directory`],
    ];
    for (const [args, message] of cases) expect(await runMain([...command, ...args, input])).toMatchObject({ status: 1, stderr: `perfconv: ${message}\n` });
    expect(readdirSync(dir).sort()).toEqual(['kallsyms', 'perf.data']);
    expect((await runMain([...command, '--kallsyms', at('kallsyms'), '--symfs', dir, '--debug-dir', dir, '--buildid-dir', dir, input])).status).toBe(0);
  });

  test.each([[['-t', 'folded', '-o', '-']], [['report']]])('a place that perf accepts as one without symbols is accepted: %j', async (command) => {
    const input = put('perf.data', fileRecording());
    const { stdout } = await runMain([...command, input]);
    for (const name of ['--kallsyms', '--vmlinux', '--guestkallsyms', '--guestmodules', '--guestvmlinux']) {
      expect(await runMain([...command, name, devNull, input])).toMatchObject({ status: 0, stdout });
    }
    expect((await runMain(['--kallsyms', devNull, '-t', 'folded', '-o', devNull, input])).status).toBe(0);
    for (const name of ['--symfs', '--buildid-dir']) {
      const warning = `perfconv: warning: ${name} ${at('missing')}: no such directory: no symbols can come from it\n`;
      expect(await runMain([...command, name, at('missing'), input])).toMatchObject({ status: 0, stdout, stderr: expect.stringContaining(warning) });
      expect((await runMain([...command, '-q', name, at('missing'), input])).stderr).toBe('');
    }
  });

  test('an output that cannot be written is refused, and the others are not written either', async () => {
    const input = put('perf.data', fileRecording());
    put('plain', '');
    const cases: [output: string, message: RegExp][] = [
      [at('missing/a.pb'), /missing\/a\.pb: there is no directory .*missing$/],
      [at('plain/a.pb'), /plain\/a\.pb: a part of the path is not a directory$/],
      [at(`${'n'.repeat(300)}.pb`), /the name is too long$/],
    ];
    for (const [output, message] of cases) {
      const result = await runMain(['-o', at('first.folded'), '-o', output, input]);
      expect(result.status).toBe(1);
      expect(result.stderr.trimEnd()).toMatch(message);
      expect(readdirSync(dir).sort()).toEqual(['perf.data', 'plain']);
    }
    expect(await runMain(['-t', 'csv', '-o', at('plain'), input])).toMatchObject({
      status: 1,
      stderr: `perfconv: ${at('plain')}: is not a directory, which the CSV tables need\n`,
    });
    expect(await runMain(['-t', 'pprof', '-o', dir, input])).toMatchObject({ status: 1, stderr: `perfconv: ${dir}: is a directory\n` });
  });

  test('an output whose path cannot be followed is refused', async () => {
    const input = put('perf.data', fileRecording());
    symlinkSync('circle', at('circle'));
    const cases: [output: string, reason: string][] = [
      [join(input, 'out'), 'a part of the path is not a directory'],
      [at('circle'), 'too many symbolic links'],
      [at('n'.repeat(300)), 'the name is too long'],
      [at('n/'.repeat(3000)), 'the name is too long'],
    ];
    for (const [output, reason] of cases) {
      for (const args of [[], ['-t', 'folded'], ['-t', 'csv']]) {
        expect(await runMain([...args, '-o', output, input])).toMatchObject({ status: 1, stderr: `perfconv: ${output}: ${reason}\n` });
      }
    }
    expect(readdirSync(dir).sort()).toEqual(['circle', 'perf.data']);
  });

  test('a failed conversion leaves an older output unchanged', async () => {
    put('a.pb.gz', 'old');
    expect((await runMain(['-o', at('a.pb.gz'), put('perf.data', 'no recording at all')])).status).toBe(1);
    expect(readFileSync(at('a.pb.gz'), 'utf8')).toBe('old');
  });
});

describe('usage errors end with status 2', () => {
  const usage: [args: string[], message: string][] = [
    [['--limt', '3'], 'there is no option --limt (did you mean --time?)'],
    [['report', '--limt', '3'], 'there is no option --limt (did you mean --limit?)'],
    [['-x'], 'there is no option -x'],
    [['--strict=no', 'x.data'], '--strict=no: this option takes no value'],
    [['report', '-q=1'], '-q=1: this option takes no value'],
    [['reprot', 'web.data'], 'there is no file or command reprot (did you mean report?)'],
    [['-v', 'inof', 'web.data'], 'there is no file or command inof (did you mean info?)'],
    [['', 'x'], "an input's name is empty"],
    [['script', 'web.data'], 'there is no file script; for the format, give -t script'],
    [['web.data', 'folded'], 'there is no file folded; for the format, give -t folded'],
    [['veiw', 'web.data'], 'there is no file or command veiw (did you mean view?)'],
    [['view', '--port', '0'], '--port 0: expected a port from 1 to 65535'],
    [['view', '--port', '65536'], '--port 65536: expected a port from 1 to 65535'],
    [['view', '--port', '80a'], '--port 80a: expected a port from 1 to 65535'],
    [['view', '--no-open=1'], '--no-open=1: this option takes no value'],
    [['view', '-o', 'x.html'], 'the command view has no option -o; convert has it'],
    [['view', 'web.data', 'web.data'], 'the input web.data is given twice: its samples would count twice'],
    [['view', '-', '-'], 'the input standard input is given twice: its samples would count twice'],
    [['-t', 'foldd'], '-t, --format foldd: unknown value (did you mean folded?)'],
    [['-t', 'pdf'], `-t, --format pdf: unknown value; expected one of ${FORMATS.join(', ')}`],
    [['-t', 'pprof', '-t', 'folded'], '-t, --format is given twice'],
    [['-F', 'hardware:comm'], '-F, --fields hardware: unknown value; expected one of hw, sw, trace, raw, break'],
    [['-F', 'sw:coom'], '-F, --fields coom: unknown value (did you mean comm?)'],
    [['-F', 'comm', '-F', 'sw:comm,+pid'], '--fields either chooses fields or changes the default: FIELD cannot be combined with +FIELD or -FIELD'],
    [['-F', ''], '-F, --fields needs a value'],
    [['-o'], '-o needs a value'],
    [['report', '--limit'], '--limit needs a value'],
    [['report', '--limit', 'abc'], '--limit abc: expected a whole number of at least 1'],
    [['report', '--limit', '0'], '--limit 0: expected a whole number of at least 1'],
    [['--max-stack', '-1'], '--max-stack -1: expected a whole number of at least 1'],
    [['report', '--sort', 'dso,sym'], '--sort sym: unknown value; expected one of function, dso, comm, pid, tid, event, input'],
    [['--cpu', '0-x'], '--cpu 0-x: expected a whole number, a range of them (0-3), or -1 for samples without one'],
    [['--pid', '1,x'], '--pid x: expected a whole number'],
    [['--pid', '-2'], '--pid -2: expected a whole number'],
    [['--cpu', '3-1'], '--cpu 3-1: ends before it starts'],
    [['--cpu', '0-99999'], '--cpu 0-99999: the range is too long'],
    [['--comm', 'a,,b'], '--comm has an empty entry'],
    [
      ['--time', 'soon'],
      '--time soon: expected FROM,TO in seconds (12.5,13), seconds since the first sample (+1,+2.5), or per cent (10%-20%, or 10%/2 for the second tenth)',
    ],
    [['--time', '60%-50%'], '--time 60%-50%: ends before it starts'],
    [['--time', '10%/11'], '--time 10%/11: goes beyond 100 %'],
    [['--time', '+1,2'], '--time +1,2: one end counts from the first sample (+), the other does not'],
    [['--time', '9,5'], '--time 9,5: ends before it starts'],
    [['--max-stack', '1e3'], '--max-stack 1e3: expected a whole number of at least 1'],
    [['--labels', 'pid,none'], '--labels none cannot be combined with other labels'],
    [['--compat', 'samply'], '--compat samply: unknown value; expected perf'],
    [
      ['-o', 'a.out'],
      '-o a.out: the name does not say which format: give -t FORMAT, or a name that ends in .pb.gz, .speedscope.json, .trace.json, .cpuprofile, .csv, .txt, .folded, .firefox.json, .html, .parquet or .otlp',
    ],
    [['-o', '-'], '-o - does not say which format: give -t FORMAT'],
    [['-t', 'csv', '-o', '-'], 'csv is a directory of tables: give -o DIRECTORY'],
    [['-o', 'a.pb', '-o', 'a.pb'], '-o a.pb is given twice'],
    [['-o', 'a.pb', '-o', './a.pb'], '-o a.pb and -o ./a.pb would be written to the same file'],
    [['-t', 'folded', '-o', '-', '-o', '-'], '-o - is given twice'],
    [['-t', 'folded', '/dev/fd/98', '/dev/fd/99'], '/dev/fd/98 and /dev/fd/99 would both be written to standard output: convert each separately, with -o'],
    [
      ['a.data', 'b.data', '-o', 'a.pb', '-o', 'a.txt'],
      'several recordings cannot be merged into script, which shows samples along a clock, and each recording has its own: leave out -o to convert each separately',
    ],
    [
      ['a.data', 'b.data', '-o', 'a.txt', '-o', 'a.trace.json'],
      'several recordings cannot be merged into script and chrome, which show samples along a clock, and each recording has its own: leave out -o to convert each separately',
    ],
    [['a.data', './a.data', '-o', 'a.pb'], 'the inputs a.data and ./a.data are the same file: its samples would count twice'],
    [['report', 'a.data', './a.data'], 'the inputs a.data and ./a.data are the same file: its samples would count twice'],
    [['info', 'a', 'b'], 'perfconv info accepts one recording, but 2 are given: perfconv info [INPUT] [--json]'],
    [['completion', 'bash', 'zsh'], 'perfconv completion accepts one word, but 2 are given: perfconv completion [bash|zsh|fish]'],
    [['help', 'reprot'], 'there is no command reprot (did you mean report?)'],
    [['help', 'foo'], 'there is no command foo; there are convert, report, diff, view, info, dump, completion'],
    [['completion', 'tcsh'], 'there is no completion for tcsh, only for bash, zsh, fish'],
  ];
  test.each(usage)('%j', async (args, message) => {
    expect(await runMain(args)).toMatchObject({ status: 2, stderr: `perfconv: ${message}\n` });
  });

  test('the input is not overwritten under any name', async () => {
    const input = put('perf.folded', fileRecording());
    expect(await runMain(['-o', join(dir, '.', 'perf.folded'), input])).toMatchObject({
      status: 2,
      stderr: `perfconv: -o ${input} would overwrite the input\n`,
    });
    symlinkSync(input, at('other.folded'));
    expect(await runMain(['-o', at('other.folded'), input])).toMatchObject({
      status: 2,
      stderr: `perfconv: -o ${at('other.folded')} would overwrite the input\n`,
    });
    expect(readFileSync(input)).toEqual(Buffer.from(fileRecording()));
  });

  test('a file that is read as standard input is not overwritten', async () => {
    const input = put('perf.folded', fileRecording());
    const fd = openSync(input, 'r');
    const result = await runMain(['-o', input, '-'], { stdin: Object.assign(new PassThrough(), { fd }) });
    closeSync(fd);
    expect(result).toMatchObject({ status: 2, stderr: `perfconv: -o ${input} would overwrite the input\n` });
    expect(readFileSync(input)).toEqual(Buffer.from(fileRecording()));
  });

  test('two inputs are never written to the same output', async () => {
    const [first, second] = [put('web.data', fileRecording()), put('web', fileRecording())];
    expect(await runMain([first, second])).toMatchObject({
      status: 2,
      stderr: `perfconv: ${first} and ${second} would both be written to ${at('web.pb.gz')}: convert each separately, with -o\n`,
    });
    expect(await runMain([first, `${dir}/./web.data`])).toMatchObject({ status: 2, stderr: expect.stringContaining('would both be written to') });
    expect(await runMain([first, first])).toMatchObject({ status: 2, stderr: `perfconv: the input ${first} is given twice\n` });
    expect(await runMain(['-t', 'csv', first, second])).toMatchObject({ status: 2 });
    expect(await runMain(['-t', 'folded', '-', '-'])).toMatchObject({ status: 2, stderr: 'perfconv: the input standard input is given twice\n' });
    expect(readdirSync(dir).sort()).toEqual(['web', 'web.data']);
  });

  test('one input is not overwritten by the output of another', async () => {
    const [first, second] = [put('x.data', fileRecording()), put('x.pb.gz', pipeRecording())];
    expect(await runMain([first, second])).toMatchObject({
      status: 2,
      stderr: `perfconv: ${first} would be written to ${second} and overwrite the input ${second}: convert it separately, with -o\n`,
    });
    expect(readFileSync(second)).toEqual(Buffer.from(pipeRecording()));
    expect(readdirSync(dir).sort()).toEqual(['x.data', 'x.pb.gz']);
  });

  test('one output does not overwrite another through a symbolic link', async () => {
    symlinkSync('a.pb', at('b.pb'));
    const result = await runMain(['-o', at('a.pb'), '-o', at('b.pb'), put('perf.data', fileRecording())]);
    expect(result).toMatchObject({ status: 2, stderr: `perfconv: -o ${at('a.pb')} and -o ${at('b.pb')} would be written to the same file\n` });
  });

  test.each(['pprof', 'parquet'])('a terminal gets no binary output: %s', async (format) => {
    const result = await runMain(['-t', format, '-o', '-', put('perf.data', fileRecording())], { isTTY: true });
    expect(result).toMatchObject({ status: 2, stderr: 'perfconv: the output is binary and standard output is a terminal: give -o FILE\n' });
  });
});

describe('messages at the end', () => {
  test('tell each kind of finding once, with its place', async () => {
    const input = put('cut.data', truncatedRecording());
    const result = await runMain(['-t', 'folded', '-o', '-', input]);
    expect(result.status).toBe(0);
    const lines = result.stderr.trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith('perfconv: data lost: the recording is cut off'))).toHaveLength(1);
    expect(result.stderr).toMatch(/\(at 0x[0-9a-f]+\)/);
  });

  test('tell only that data was lost with --quiet, in one line', async () => {
    const cut = put('cut.data', truncatedRecording());
    const lossy = put('lossy.data', lossyRecording());
    const [one, two] = [
      /^perfconv: data lost: the recording is cut off: .*\n$/,
      /^perfconv: data lost: .*; and 1 other kind of loss, printed without --quiet\n$/,
    ];
    // dump prints all records as they are, even those of losses.
    expect((await runMain(['dump', '-q', cut])).stderr).toMatch(one);
    for (const args of [['-t', 'folded', '-o', '-'], ['report']]) {
      expect((await runMain([...args, '-q', cut])).stderr).toMatch(one);
      expect((await runMain([...args, '-q', lossy])).stderr).toMatch(two);
      expect((await runMain([...args, '-q', put('whole.data', fileRecording())])).stderr).toBe('');
    }
    const merged = await runMain(['-q', '-t', 'folded', '-o', '-', cut, put('whole.data', fileRecording())]);
    expect(merged.stderr).toBe(`perfconv: ${cut}: ${(await runMain(['report', '-q', cut])).stderr.replace('perfconv: ', '')}`);
  });

  test('come with status 3 if data was lost and --strict was given; the output is written', async () => {
    const cut = put('cut.data', truncatedRecording());
    expect((await runMain(['--strict', '-q', '-o', at('cut.folded'), cut])).status).toBe(3);
    expect(readFileSync(at('cut.folded'), 'utf8')).toContain('app;');
    expect((await runMain(['--strict', '-q', '-o', at('whole.folded'), put('whole.data', fileRecording())])).status).toBe(0);
    expect((await runMain(['report', '--strict', '-q', cut])).status).toBe(3);
    expect((await runMain(['info', '--strict', cut])).status).toBe(3);
  });

  test('explain why there are no samples before the error, and then --strict ends with status 3', async () => {
    const whole = pipeRecording(1);
    // Cut off within its only sample.
    const cut = put('cut.data', whole.subarray(0, whole.length - 20));
    for (const command of [['-t', 'folded', '-o', '-'], ['report']]) {
      const result = await runMain([...command, cut]);
      expect(result.status).toBe(1);
      expect(result.stderr).toMatch(/^perfconv: data lost: the recording is cut off.*\nperfconv: .*cut\.data: the recording holds no samples\n$/);
      expect(await runMain([...command, '--strict', cut])).toMatchObject({ status: 3, stderr: result.stderr });
      expect((await runMain([...command, '--strict', put('empty.data', emptyRecording())])).status).toBe(1);
    }
  });

  test('warn about options without effect and missing events', async () => {
    const outputs = ['-o', at('a.folded'), '-o', at('b.folded'), '-o', at('a.pb')];
    const result = await runMain(['--group', 'cpu', '--ns', '--event', 'cpu-clock,cycles', ...outputs, put('perf.data', fileRecording())]);
    expect(result.status).toBe(0);
    expect(result.stderr).toContain('perfconv: warning: --group and --ns have no effect on folded and pprof\n');
    expect(result.stderr).toContain('perfconv: warning: the recording has no event cycles; it has cpu-clock, page-faults\n');
  });
});

describe('filters and weights', () => {
  const folded = async (...args: string[]): Promise<string> =>
    (await runMain(['-q', '-t', 'folded', '-o', '-', ...args, put('perf.data', fileRecording())])).stdout.toString();

  test.each([
    [['--event', 'page-faults'], ' 1'],
    [['--cpu', '0', '--event', 'cpu-clock'], ' 1000000'],
    [['--cpu', '0-1,7', '--event', 'cpu-clock'], ' 2000000'],
    [['--pid', '1,100', '--event', 'cpu-clock'], ' 2000000'],
    [['--tid', '1', '--tid', '100', '--event', 'cpu-clock'], ' 2000000'],
    [['--comm', 'app', '--weight', 'samples'], ' 2'],
    [['--time', '0.001,'], ' 1000000'],
    [['--time', ',0.001'], ' 1000000'],
  ])('are applied with %j', async (args, weight) => {
    expect(await folded(...args)).toBe(`app;[app];[app]${weight}\n`);
  });

  test('the ids of no process, no thread and no CPU are accepted', async () => {
    const attrs: AttrSpec[] = [{ name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'period'], flags: ['sampleIdAll'] }];
    const records = [-1, -1, 5].map((id, i) => record.sample({ ip: 1n, pid: id, tid: id, time: BigInt(i + 1), period: BigInt(10 ** i) }));
    const input = put('ended.data', encodeFile({ attrs, records }));
    const weight = async (...args: string[]) => (await runMain(['-q', '-t', 'folded', '-o', '-', ...args, input])).stdout.toString().match(/\d+$/gm);
    for (const option of ['--pid', '--tid']) {
      for (const none of ['-1', '4294967295']) expect([option, none, await weight(`${option}=${none}`)]).toEqual([option, none, ['11']]);
      expect(await weight(option, '-1')).toEqual(['11']);
      expect(await weight(`${option}=5,-1`)).toEqual(['11', '100']);
      for (const wrong of ['-2', '4294967296', '0x5']) expect((await runMain([`${option}=${wrong}`, input])).status).toBe(2);
    }
    expect(await weight('--cpu=-1')).toEqual(['11', '100']);
  });

  test('a filter by CPU warns about events without CPU, which it leaves out', async () => {
    const attrs: AttrSpec[] = [
      { name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['identifier', 'ip', 'tid', 'time'], flags: ['sampleIdAll'] },
      { name: 'page-faults', config: 2n, period: 1n, ids: [8n], sampleType: ['identifier', 'ip', 'tid', 'time', 'cpu'], flags: ['sampleIdAll'] },
    ];
    const records = [7n, 8n].map((id, attr) => record.sample({ id, ip: 1n, pid: 5, tid: 5, time: id, cpu: 2 }, { attr }));
    const input = put('cpus.data', encodeFile({ attrs, records }));
    const said = async (...args: string[]) => (await runMain(['report', ...args, input])).stderr;
    const warning = 'perfconv: warning: --cpu leaves out cpu-clock: the samples carry no CPU: record with perf record --sample-cpu\n';
    expect(await said('--cpu', '2')).toContain(warning);
    for (const args of [[], ['--cpu=2,-1'], ['--cpu=2', '--event=page-faults']])
      expect([args, await said(...args)]).toEqual([args, expect.not.stringContaining('--cpu')]);
    // If no other event is wanted, nothing is left.
    expect(await said('--cpu=2', '--event=cpu-clock')).toContain('passes the filters: they carry no CPU: record with perf record --sample-cpu\n');
  });

  test('--max-stack keeps the leaf', async () => {
    expect(await folded('--max-stack', '1')).toBe('app;[app] 2000000\n');
  });

  test('-F and --ns choose what perf-script text shows', async () => {
    const result = await runMain(['-t', 'script', '-F', 'comm,tid,time,event', '--ns', '-o', '-', put('perf.data', fileRecording(1))]);
    // Without frames, perf pads the name (observed, perf 6.1).
    expect(result.stdout.toString()).toBe('             app   100     0.000003000:   cpu-clock: \n');
  });

  test('--reltime and --deltatime print differences of times', async () => {
    const file = put('perf.data', fileRecording());
    const times = async (...args: string[]): Promise<string> =>
      (await runMain(['-t', 'script', '-F', 'time', '--ns', ...args, '-o', '-', file])).stdout.toString();
    expect(await times('--reltime')).toBe('    0.000000000: \n    0.001000000: \n    0.002000000: \n');
    expect(await times('--deltatime')).toBe('    0.000000000: \n    0.001000000: \n    0.001000000: \n');
    const { status, stderr } = await runMain(['-t', 'script', '--reltime', '--deltatime', '-o', '-', file]);
    expect([status, stderr]).toEqual([2, 'perfconv: --reltime cannot be combined with --deltatime\n']);
  });
});
