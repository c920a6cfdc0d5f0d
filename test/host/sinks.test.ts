import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PerfconvError } from '../../src/base/problems/errors.ts';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import { GzipSink } from '../../src/host/compression/gzip-sink.ts';
import { OutputStage } from '../../src/host/output/output-stage.ts';
import { openStandardOutput } from '../../src/host/output/standard-output.ts';
import { WritableSink } from '../../src/host/output/writable-sink.ts';
import { ProgressBar } from '../../src/host/program/progress-bar.ts';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

describe('GzipSink', () => {
  test('compresses chunks whose buffer is reused, always to the same bytes', async () => {
    const compress = async (): Promise<{ packed: Uint8Array; plain: Uint8Array }> => {
      const target = new BufferSink();
      const plain = new BufferSink();
      const gzip = new GzipSink(target);
      const buffer = new Uint8Array(1 << 20);
      for (let i = 0; i < 12; i++) {
        for (let at = 0; at < buffer.length; at++) buffer[at] = (at * (i + 1)) % 253;
        await plain.write(buffer);
        await gzip.write(buffer);
      }
      await gzip.end();
      return { packed: target.bytes(), plain: plain.bytes() };
    };
    const [first, second] = [await compress(), await compress()];
    expect(Buffer.compare(gunzipSync(first.packed), first.plain)).toBe(0);
    expect(Buffer.compare(first.packed, second.packed)).toBe(0);
  });

  test('does not run ahead of a slow target', async () => {
    let release = (): void => {};
    const target = {
      written: 0,
      async write(chunk: Uint8Array) {
        this.written += chunk.length;
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      },
    };
    const gzip = new GzipSink(target);
    const noise = Uint8Array.from({ length: 1 << 20 }, (_, i) => ((i * 2654435761) >>> 13) & 0xff);
    let accepted = 0;
    const writing = (async () => {
      for (; accepted < 64; accepted++) await gzip.write(noise);
    })();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(accepted).toBeLessThan(32);
    const pump = setInterval(() => release(), 0);
    await writing;
    await gzip.end();
    clearInterval(pump);
    expect(accepted).toBe(64);
  });

  test('writes nothing more to the target once it is destroyed', async () => {
    const target = {
      writing: 0,
      async write() {
        this.writing++;
        await new Promise((resolve) => setTimeout(resolve, 20));
        this.writing--;
      },
    };
    const gzip = new GzipSink(target);
    const noise = Uint8Array.from({ length: 1 << 20 }, (_, i) => ((i * 2654435761) >>> 13) & 0xff);
    await gzip.write(noise);
    while (target.writing === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await gzip.destroy();
    expect(target.writing).toBe(0);
    await gzip.destroy();
  });

  test('passes a failure of the target on from write or end', async () => {
    const failing = {
      async write(): Promise<void> {
        throw new PerfconvError('io', 'no space left on device');
      },
    };
    const gzip = new GzipSink(failing);
    await expect(
      (async () => {
        for (let i = 0; i < 100; i++) await gzip.write(new Uint8Array(1 << 20));
        await gzip.end();
      })(),
    ).rejects.toMatchObject({ code: 'io' });
  });
});

describe('WritableSink', () => {
  test('tells why its stream failed before', async () => {
    const failed = new Writable({ write: (_chunk, _encoding, done) => done() });
    const sink = new WritableSink(failed, 'output');
    failed.destroy(new Error('no such directory'));
    await expect(sink.write(text('a'))).rejects.toMatchObject({ code: 'io', message: 'output: no such directory' });
  });

  test('waits for the stream, and gives its failure a type', async () => {
    const order: string[] = [];
    const slow = new Writable({
      write(chunk: Buffer, _encoding, done) {
        setImmediate(() => {
          order.push(chunk.toString());
          done();
        });
      },
    });
    const sink = new WritableSink(slow, 'standard output');
    await sink.write(text('a'));
    order.push('waited');
    expect(order).toEqual(['a', 'waited']);
    const gone = new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(), { code: 'EPIPE' })) });
    await expect(new WritableSink(gone, 'standard output').write(text('a'))).rejects.toMatchObject({ code: 'io', file: 'standard output' });
  });
});

describe('openStandardOutput', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'perfconv-stdout-'));
  });
  afterEach(() => {
    rmSync(dir, { recursive: true, force: true });
  });

  /** Like Node's stream for a file: it writes what the disk has room for, and reports success. */
  const takingOneByte = (fd: number): Writable & { fd: number; taken: string } => {
    const stream = Object.assign(new Writable(), { fd, taken: '' });
    stream._write = (chunk: Buffer, _encoding, done) => {
      stream.taken += chunk.toString().slice(0, 1);
      done();
    };
    return stream;
  };

  test('writes a file through its descriptor, from its position on, and leaves it open', async () => {
    const fd = openSync(join(dir, 'out'), 'w');
    const stream = takingOneByte(fd);
    writeFileSync(fd, 'before ');
    await openStandardOutput(stream, 'standard output').write(text('all of it'));
    writeFileSync(fd, ' after');
    closeSync(fd);
    expect(stream.taken).toBe('');
    expect(readFileSync(join(dir, 'out'), 'utf8')).toBe('before all of it after');
  });

  test('writes to a terminal through its stream', async () => {
    const fd = openSync(join(dir, 'out'), 'w');
    const terminal = Object.assign(takingOneByte(fd), { isTTY: true });
    await openStandardOutput(terminal, 'standard output').write(text('x'));
    expect(terminal.taken).toBe('x');
    closeSync(fd);
  });
});

describe('OutputStage', () => {
  let dir: string;
  const at = (name: string): string => join(dir, name);
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'perfconv-stage-'));
  });
  afterEach(() => {
    rmSync(dir, { recursive: true, force: true });
  });

  test('puts nothing in its place before commit, and then everything', async () => {
    const stage = new OutputStage();
    await (await stage.openFile(at('a'))).write(text('one'));
    await (await stage.openFile(at('b.gz'), true)).write(text('two'));
    const openTable = await stage.openDirectory(at('c'));
    await (await openTable('x.csv')).write(text('three'));
    expect(readdirSync(dir).every((name) => name.startsWith('.perfconv-'))).toBe(true);
    await stage.commit();
    await stage.discard();
    expect(readdirSync(dir).sort()).toEqual(['a', 'b.gz', 'c']);
    expect(readFileSync(at('a'), 'utf8')).toBe('one');
    expect(gunzipSync(readFileSync(at('b.gz'))).toString()).toBe('two');
    expect(readFileSync(at('c/x.csv'), 'utf8')).toBe('three');
  });

  test.each(['discard', 'discardNow'] as const)('removes unfinished outputs with %s', async (method) => {
    const stage = new OutputStage();
    await (await stage.openFile(at('a.gz'), true)).write(text('one'));
    const openTable = await stage.openDirectory(at('c'));
    await (await openTable('x.csv')).write(text('three'));
    await stage[method]();
    expect(readdirSync(dir)).toEqual([]);
    await stage.discard();
  });

  test('keeps the mode of a file that it replaces, and a symbolic link to it', async () => {
    writeFileSync(at('real'), 'old');
    chmodSync(at('real'), 0o640);
    symlinkSync(at('real'), at('link'));
    const stage = new OutputStage();
    await (await stage.openFile(at('link'))).write(text('new'));
    await stage.commit();
    expect(readdirSync(dir).sort()).toEqual(['link', 'real']);
    expect(readFileSync(at('real'), 'utf8')).toBe('new');
    expect(statSync(at('real')).mode & 0o777).toBe(0o640);
  });

  test('creates the target of a symbolic link if it does not exist yet', async () => {
    mkdirSync(at('elsewhere'));
    symlinkSync('elsewhere/real', at('second'));
    symlinkSync(at('second'), at('first'));
    symlinkSync('tables', at('dir'));
    const stage = new OutputStage();
    await (await stage.openFile(at('first'))).write(text('new'));
    await (await (await stage.openDirectory(at('dir')))('x.csv')).write(text('row'));
    expect(readdirSync(at('elsewhere'))).toEqual([expect.stringMatching(/^\.perfconv-/)]);
    await stage.commit();
    expect(readdirSync(dir).sort()).toEqual(['dir', 'elsewhere', 'first', 'second', 'tables']);
    expect(readFileSync(at('elsewhere/real'), 'utf8')).toBe('new');
    expect(readFileSync(at('tables/x.csv'), 'utf8')).toBe('row');
    expect(lstatSync(at('first')).isSymbolicLink() && lstatSync(at('second')).isSymbolicLink() && lstatSync(at('dir')).isSymbolicLink()).toBe(true);
  });

  test('refuses symbolic links into a missing directory or to themselves', async () => {
    symlinkSync('missing/real', at('link'));
    symlinkSync('circle', at('circle'));
    const stage = new OutputStage();
    await expect(stage.openFile(at('link'))).rejects.toMatchObject({ code: 'io', message: expect.stringMatching(/link: there is no directory .*missing$/) });
    await expect(stage.openFile(at('circle'))).rejects.toMatchObject({ code: 'io', message: expect.stringContaining('too many symbolic links') });
    await stage.discard();
    expect(readdirSync(dir).sort()).toEqual(['circle', 'link']);
  });
});

describe('ProgressBar', () => {
  const clear = `\r${String.fromCharCode(27)}[2K`;
  const draw = (total: number | undefined, steps: readonly (readonly [bytes: number, ms: number])[]): string => {
    let drawn = '';
    const bar = new ProgressBar((text) => (drawn += clear + text), 'perf.data', total, 0);
    for (const [bytes, ms] of steps) bar.update(bytes, ms);
    bar.finish();
    return drawn;
  };
  test('shows nothing if the work is done at once', () => {
    expect(
      draw(1e8, [
        [5e7, 10],
        [1e8, 400],
      ]),
    ).toBe('');
  });

  test('shows the share, not too often, and clears its line', () => {
    expect(
      draw(2e8, [
        [5e7, 600],
        [6e7, 650],
        [1e8, 800],
      ]),
    ).toBe(`${clear}perf.data: [########......................] 25% of 200 MB${clear}perf.data: [###############...............] 50% of 200 MB${clear}`);
  });

  test('shows how much of a stream was read', () => {
    expect(draw(undefined, [[5e7, 600]])).toBe(`${clear}perf.data: 50 MB${clear}`);
  });
});
