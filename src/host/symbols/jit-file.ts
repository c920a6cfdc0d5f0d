import { type BigIntStats, closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readFileSync, statSync } from 'node:fs';
import type { RecordedProcess } from '../../symbolizer/inputs/symbol-files.ts';
import { ioError, isOutOfDescriptors } from '../system/io-error.ts';
import { systemPath } from '../system/system-path.ts';

/** The result of opening a file that a process left for profilers. */
export interface OpenedJitFile {
  /** To be closed by the caller; undefined if the file is refused. */
  readonly descriptor: number | undefined;
  /** Why it is refused, or what else there is to say about it; empty if nothing. */
  readonly remark: string;
}

const ROOT_USER = 0;
/** O_NONBLOCK: opening a FIFO must not wait for a writer. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const NO_LINK = constants.O_NOFOLLOW ?? 0;
/** Includes Linux' O_PATH, which Node does not name: a directory on the way to a file need not be readable. */
const DIRECTORY = READ | (constants.O_DIRECTORY ?? 0) | (process.platform === 'linux' ? 0o10000000 : 0);
const OWN_ROOT = /^\/proc\/(\d+)\/root\//;
/** How far clocks that are read one after the other may differ, and `modifiedNs` on file systems that keep whole seconds. */
const CLOCK_TOLERANCE_NS = 2_000_000_000n;
/** The unit in which proc(5) counts times, on every machine. */
const TICK_NS = 10_000_000n;

/**
 * Opens a file that a process left in a directory such as `/tmp`, where every user may leave files under any name. All checks are made on the open file.
 *
 * The file is trusted if it belongs to this user, to root, or to the process's user. If the process has ended, its user is unknown: a file that was there when
 * the recording ended is trusted then, with a remark, and one made later is not. Symbolic links are followed only if they belong to root, to this user, or to
 * the owner of the file that they lead to, so that nobody can make another user read what they could not read themselves. In a directory that the user has
 * named, only the last name is checked. Below `/proc/PID/root`, no link is followed: an absolute one would lead out of it, as `..` would.
 *
 * @param writer undefined: any writer is trusted, since the user has named the directory
 * @returns undefined if there is no such file, it is not readable, or it is not a regular file
 * @throws PerfconvError `io` when the process can open no more files
 */
export function openJitFile(path: string, writer: RecordedProcess | undefined): OpenedJitFile | undefined {
  const users = writer === undefined ? undefined : livingUsers(writer);
  const isBelowRoot = OWN_ROOT.test(path);
  // Another process has that id by now.
  if (isBelowRoot && writer !== undefined && users === undefined) return undefined;
  let opened: OpenFile | undefined;
  try {
    opened = writer !== undefined && path.startsWith('/') && existsSync('/proc/self/fd') ? openStepwise(path, isBelowRoot) : openLast(systemPath(path), true);
  } catch (error) {
    if (isOutOfDescriptors(error)) throw ioError(error, path);
    return undefined;
  }
  if (opened === undefined) return undefined;
  const { descriptor, stats, linkOwners } = opened;
  const owner = Number(stats.uid);
  const linkOwner = linkOwners.find((user) => user !== owner);
  const judgment =
    linkOwner !== undefined
      ? refusal(`it belongs to user ${owner}, and a symbolic link of user ${linkOwner} leads to it`)
      : writer === undefined || isOwn(owner)
        ? BELIEVED
        : judge(stats, writer, users);
  if (!judgment.isRefused) return { descriptor, remark: judgment.remark };
  closeSync(descriptor);
  return { descriptor: undefined, remark: judgment.remark };
}

interface Judgment {
  readonly isRefused: boolean;
  readonly remark: string;
}

const BELIEVED: Judgment = { isRefused: false, remark: '' };

function refusal(remark: string): Judgment {
  return { isRefused: true, remark };
}

/** Whether that user's files are always trusted. On a system without user ids, every file is this user's. */
function isOwn(user: number): boolean {
  return process.geteuid === undefined || user === ROOT_USER || user === process.geteuid();
}

/** @param users users of the process if it still runs; undefined if it has ended */
function judge({ uid, birthtimeNs, ctimeNs }: BigIntStats, { pid, recordedUntilNs }: RecordedProcess, users: readonly number[] | undefined): Judgment {
  if (users !== undefined) return users.includes(Number(uid)) ? BELIEVED : refusal(`it belongs to user ${uid}, and process ${pid} to user ${users[0]}`);
  // Users can set neither time. File systems that do not record when a file was made record when it was last changed.
  const madeNs = birthtimeNs > 0n ? birthtimeNs : ctimeNs;
  if (recordedUntilNs !== undefined && madeNs > recordedUntilNs) {
    return refusal(`user ${uid} created it after the recording, and nothing shows that process ${pid} belonged to that user`);
  }
  return { isRefused: false, remark: `it belongs to user ${uid}, and nothing shows that process ${pid}, which has ended, belonged to that user` };
}

interface OpenFile {
  readonly descriptor: number;
  /** Of the open file, whatever is at its path by now. */
  readonly stats: BigIntStats;
  /** Owners of the symbolic links that were followed, except root and this user. */
  readonly linkOwners: readonly number[];
}

/** @param isBelowRoot whether the path is below `/proc/PID/root` */
function openStepwise(path: string, isBelowRoot: boolean): OpenFile | undefined {
  const root = isBelowRoot ? (OWN_ROOT.exec(path)?.[0] ?? '') : '/';
  const names = path.slice(root.length).split('/');
  const last = names.pop() ?? '';
  const linkOwners: number[] = [];
  let directory = openSync(root, DIRECTORY);
  try {
    for (const name of names) {
      const place = systemPath(`/proc/self/fd/${directory}/${name}`);
      const stats = lstatSync(place);
      if (isBelowRoot && (stats.isSymbolicLink() || name === '..')) return undefined;
      if (stats.isSymbolicLink() && !isOwn(stats.uid)) linkOwners.push(stats.uid);
      const next = openSync(place, stats.isSymbolicLink() ? DIRECTORY : DIRECTORY | NO_LINK);
      closeSync(directory);
      directory = next;
    }
    const opened = openLast(systemPath(`/proc/self/fd/${directory}/${last}`), !isBelowRoot);
    return opened && { ...opened, linkOwners: [...linkOwners, ...opened.linkOwners] };
  } finally {
    closeSync(directory);
  }
}

/** Opens a file; checks only the last name of the path. */
function openLast(place: string | Buffer, followsLink: boolean): OpenFile | undefined {
  const found = lstatSync(place);
  const isLink = found.isSymbolicLink();
  // Opening a device may do something to it.
  if (isLink ? !followsLink || !statSync(place).isFile() : !found.isFile()) return undefined;
  const descriptor = openSync(place, isLink ? READ : READ | NO_LINK);
  let isWanted = false;
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    isWanted = stats.isFile();
    return isWanted ? { descriptor, stats, linkOwners: isLink && !isOwn(found.uid) ? [found.uid] : [] } : undefined;
  } finally {
    if (!isWanted) closeSync(descriptor);
  }
}

/** Index of `starttime` among the fields that follow the process's name. Source: proc_pid_stat(5). */
const START_TIME_AFTER_NAME = 19;

/**
 * The user ids of a process, the real one first; undefined if it has ended, or the id now belongs to a process that was started after the recording. Source:
 * proc(5).
 */
function livingUsers({ pid, recordedUntilNs }: RecordedProcess): number[] | undefined {
  try {
    const users = /^Uid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The fields after the name, which may contain anything.
    const startTicks = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .at(START_TIME_AFTER_NAME);
    const bootSeconds = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1];
    if (users === undefined || startTicks === undefined || bootSeconds === undefined) return undefined;
    const startedNs = BigInt(bootSeconds) * 1_000_000_000n + BigInt(startTicks) * TICK_NS;
    const isLater = recordedUntilNs !== undefined && startedNs > recordedUntilNs + CLOCK_TOLERANCE_NS;
    return isLater ? undefined : users.split(/\s+/).map(Number);
  } catch {
    return undefined;
  }
}
