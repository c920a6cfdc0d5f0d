import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, closeSync, lchownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openJitFile } from '../../../src/host/symbols/jit-file.ts';
import { encodeJitDump } from '../../support/builders/recordings/jitdump-encoder.ts';
import { encodeFile, misc, record } from '../../support/builders/recordings/perf-encoder.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';
import { runMain } from '../../support/programs/run-main.ts';

/** Only root can make files of other users. */
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
if (!isRoot) announceSkipped('files of other users', 'only root can make them');

const [USER, STRANGER] = [65534, 65533];
/** A number that no process has: it is above Linux's limit. */
const ENDED = 2 ** 22 + 1;
const NOW_NS = BigInt(Date.now()) * 1_000_000n;
const [BEFORE, LATER] = [NOW_NS - 3_600_000_000_000n, NOW_NS + 3_600_000_000_000n];

let dir = '';
let living: ChildProcess;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-left-'));
  chmodSync(dir, 0o777);
  if (isRoot) living = spawn('sleep', ['600'], { uid: USER, gid: USER, stdio: 'ignore' });
});
afterAll(() => {
  living?.kill();
  rmSync(dir, { recursive: true, force: true });
});
const made: string[] = [];
afterEach(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
});

function fileOf(owner: number, name = 'perf.map', content = `of ${owner}`): string {
  const path = join(dir, name);
  made.push(path);
  writeFileSync(path, content);
  chownSync(path, owner, owner);
  return path;
}

function linkOf(owner: number, target: string): string {
  const path = join(dir, `link-${made.length}`);
  made.push(path);
  symlinkSync(target, path);
  lchownSync(path, owner, owner);
  return path;
}

/** The content of the opened file with any remark; why it is refused; or that there is nothing. */
function open(path: string, pid: number | undefined, recordedUntilNs: bigint | undefined = LATER): string {
  const opened = openJitFile(path, pid === undefined ? undefined : { pid, recordedUntilNs });
  if (opened === undefined) return 'nothing';
  const { descriptor, remark } = opened;
  if (descriptor === undefined) return `refused: ${remark}`;
  const content = readFileSync(descriptor, 'utf8');
  closeSync(descriptor);
  return remark === '' ? content : `${content}, but ${remark}`;
}

describe.skipIf(!isRoot)('a file that a process left', () => {
  it("is believed if it belongs to root or to the living process's user, and to no one else", () => {
    const pid = living.pid!;
    expect(open(fileOf(0), pid)).toBe('of 0');
    expect(open(fileOf(USER), pid)).toBe(`of ${USER}`);
    expect(open(fileOf(STRANGER), pid)).toBe(`refused: it belongs to user ${STRANGER}, and process ${pid} to user ${USER}`);
    expect(open(fileOf(USER), process.pid)).toBe(`refused: it belongs to user ${USER}, and process ${process.pid} to user 0`);
  });

  it('of a process that has ended is believed if it was there by the end of the recording', () => {
    const unsure = `of ${USER}, but it belongs to user ${USER}, and nothing shows that process ${ENDED}, which has ended, belonged to that user`;
    expect(open(fileOf(USER), ENDED)).toBe(unsure);
    // A pipe does not tell the time.
    expect(open(fileOf(USER), ENDED, undefined)).toBe(unsure);
    expect(open(fileOf(USER), ENDED, BEFORE)).toMatch(/^refused: user 65534 created it after the recording/);
    expect(open(fileOf(0), ENDED, BEFORE)).toBe('of 0');
  });

  it('is refused if it is of a process that was started after the recording with the same number', () => {
    expect(open(fileOf(USER), living.pid, BEFORE)).toMatch(/^refused: user 65534 created it after the recording/);
    expect(open(`/proc/${living.pid}/root${fileOf(USER)}`, living.pid)).toBe(`of ${USER}`);
    expect(open(`/proc/${living.pid}/root${fileOf(USER)}`, living.pid, BEFORE)).toBe('nothing');
  });

  it('in a directory that the user has named is believed, whoever wrote it', () => {
    expect(open(fileOf(STRANGER), undefined)).toBe(`of ${STRANGER}`);
  });

  it('is not read through a symbolic link of a user who could not read it', () => {
    const secret = fileOf(0, 'secret');
    chmodSync(secret, 0o600);
    for (const pid of [living.pid, ENDED, undefined]) {
      expect(open(linkOf(USER, secret), pid)).toBe(`refused: it belongs to user 0, and a symbolic link of user ${USER} leads to it`);
      expect(open(linkOf(0, secret), pid)).toBe('of 0');
    }
    const own = fileOf(USER, 'own');
    expect(open(linkOf(USER, own), living.pid)).toBe(`of ${USER}`);
    expect(open(linkOf(STRANGER, own), living.pid)).toBe(`refused: it belongs to user ${USER}, and a symbolic link of user ${STRANGER} leads to it`);
  });

  it('is not reached through such a link among its directories, unless the user has named them', () => {
    const below = join(dir, 'kept');
    made.push(below);
    mkdirSync(below, { mode: 0o711 });
    fileOf(0, 'kept/perf.map');
    for (const pid of [living.pid, ENDED]) {
      expect(open(join(linkOf(USER, below), 'perf.map'), pid)).toBe(`refused: it belongs to user 0, and a symbolic link of user ${USER} leads to it`);
      expect(open(join(linkOf(0, below), 'perf.map'), pid)).toBe('of 0');
    }
    expect(open(join(linkOf(USER, below), 'perf.map'), undefined)).toBe('of 0');
  });

  it('is not reached through symbolic links below the root directory of a process, which would lead out of it', () => {
    const below = join(dir, 'below');
    made.push(below);
    mkdirSync(below);
    fileOf(USER, 'below/perf.map');
    const root = `/proc/${living.pid}/root`;
    expect(open(`${root}${below}/perf.map`, living.pid)).toBe(`of ${USER}`);
    expect(open(`${root}${linkOf(0, below)}/perf.map`, living.pid)).toBe('nothing');
    expect(open(`${root}${linkOf(0, join(below, 'perf.map'))}`, living.pid)).toBe('nothing');
    expect(open(`${root}${below}/../below/perf.map`, living.pid)).toBe('nothing');
  });

  it('must be a regular file', () => {
    const fifo = join(dir, 'fifo');
    made.push(fifo);
    execFileSync('mkfifo', [fifo]);
    for (const path of [fifo, dir, '/dev/zero', '/dev/null', join(dir, 'missing'), linkOf(0, '/dev/zero'), `${dir}/missing/file`])
      expect(open(path, 1)).toBe('nothing');
    expect(open(linkOf(0, fifo), 1)).toBe('nothing');
  });
});

describe.skipIf(!isRoot)('code made at run time', () => {
  const JIT = 0x7f00_0000_0000n;
  const attrs = [{ name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time'], flags: ['sampleIdAll', 'useClockid'], clockid: 1 }] as const;

  /** A recording of a process that has made code, and has mapped its jitdump file if it has one. */
  function recordingOf(pid: number, dump?: string): string {
    const mmap2 = { pid, tid: pid, len: 0x1_0000n };
    const path = fileOf(0, 'perf.data');
    const bytes = encodeFile({
      attrs: [...attrs],
      records: [
        ...(dump === undefined ? [] : [record.mmap2({ ...mmap2, addr: 0x7e00_0000_0000n, filename: dump, ino: 5n })]),
        record.mmap2({ ...mmap2, addr: JIT, filename: '//anon', prot: 7 }),
        record.sample({ ip: JIT + 0x104n, pid, tid: pid, time: 30n }, { misc: misc.user }),
      ],
    });
    writeFileSync(path, bytes);
    return path;
  }

  it('is not named by a perf map of a user other than its own, unless the directory of the map is named', async () => {
    const map = `/tmp/perf-${process.pid}.map`;
    made.push(map);
    writeFileSync(map, `${(JIT + 0x100n).toString(16)} 40 listed\n`);
    const input = recordingOf(process.pid);
    const args = ['-t', 'folded', '-o', '-', '--explain-symbols', input];
    expect((await runMain(args)).stdout.toString()).toContain('listed');
    chownSync(map, STRANGER, STRANGER);
    const { stdout, stderr } = await runMain(args);
    expect(stdout.toString()).not.toContain('listed');
    expect(stderr).toContain(`perfconv: warning: ${map} is not used: it belongs to user ${STRANGER}, and process ${process.pid} to user 0`);
    expect(stderr).toMatch(/not trusted {4}\/tmp\/perf-\d+\.map/);
    expect(stderr).toContain('what helps     --perf-map-dir /tmp');
    expect((await runMain([...args, '--perf-map-dir', '/tmp'])).stdout.toString()).toContain('listed');
  });

  it('is not named by a jitdump file of a user other than its own, unless the directory of the file is named', async () => {
    const dump = fileOf(0, `jit-${process.pid}.dump`, '');
    writeFileSync(dump, encodeJitDump({ records: [{ load: 'compiled', at: JIT + 0x100n, code: 64, index: 1n, time: 20n }] }));
    const args = ['-t', 'folded', '-o', '-', '--explain-symbols', recordingOf(process.pid, dump)];
    expect((await runMain(args)).stdout.toString()).toContain('compiled');
    chownSync(dump, STRANGER, STRANGER);
    const { stdout, stderr } = await runMain(args);
    expect(stdout.toString()).not.toContain('compiled');
    expect(stderr).toContain(`perfconv: warning: ${dump} is not used: it belongs to user ${STRANGER}, and process ${process.pid} to user 0`);
    expect(stderr).toContain(`not trusted    ${dump}`);
    expect((await runMain([...args, '--perf-map-dir', dir])).stdout.toString()).toContain('compiled');
  });
});
