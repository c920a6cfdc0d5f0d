import { type BigIntStats, closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readFileSync, statSync } from 'node:fs';
import type { RecordedProcess } from '../symbolizer/symbol-files.ts';
import { ioError, isOutOfDescriptors } from './io-error.ts';
import { systemPath } from './system-path.ts';

/** What came of opening a file that a process left for whoever profiles it. */
export interface OpenedLeft {
  /** To be closed by the caller; undefined where the file is refused. */
  readonly descriptor: number | undefined;
  /** Why it is refused, or what else there is to say of it; empty where there is nothing. */
  readonly remark: string;
}

const ROOT_USER = 0;
/** O_NONBLOCK: a FIFO must not wait for a writer. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const NO_LINK = constants.O_NOFOLLOW ?? 0;
/** O_PATH of Linux, which Node does not name: a directory that is gone through need not be readable. */
const DIRECTORY = READ | (constants.O_DIRECTORY ?? 0) | (process.platform === 'linux' ? 0o10000000 : 0);
const OWN_ROOT = /^\/proc\/(\d+)\/root\//;
/** Of clocks that are read one after the other, and of `modifiedNs` of file systems that keep seconds. */
const CLOCK_TOLERANCE_NS = 2_000_000_000n;
/** In which proc(5) counts times, on every machine. */
const TICK_NS = 10_000_000n;

/**
 * Opens a file that a process left in a directory such as `/tmp`, where every user may leave files under any name. All that is judged
 * is judged of the open file.
 *
 * It is believed if it is this user's, root's, or the process's user's. Of a process that has ended nobody knows whose it was: then a file is believed
 * that was there when the recording ended, which is remarked, and none that was made later. No symbolic link is followed but those of root and this user,
 * and those of the user whose file they lead to, so that nobody has another one read what he could not read himself; in a directory that the user has named
 * only the last name is judged. Below `/proc/PID/root` none is followed: an absolute one would lead out of it, as `..` would.
 *
 * @param writer undefined: whoever wrote it is believed, since the user has named the directory
 * @returns undefined: there is no such file, it is not readable, or no regular file
 * @throws PerfconvError `io` where the process can open no more files
 */
export function openLeftFile(path: string, writer: RecordedProcess | undefined): OpenedLeft | undefined {
  const users = writer === undefined ? undefined : livingUsers(writer);
  const isBelowRoot = OWN_ROOT.test(path);
  // Another process has the number by now.
  if (isBelowRoot && writer !== undefined && users === undefined) return undefined;
  let opened: OpenFile | undefined;
  try {
    opened = writer !== undefined && path.startsWith('/') && existsSync('/proc/self/fd') ? openStepwise(path, isBelowRoot) : openLast(systemPath(path), true);
  } catch (error) {
    if (isOutOfDescriptors(error)) throw ioError(error, path);
    return undefined;
  }
  if (opened === undefined) return undefined;
  const { descriptor, linkOwners } = opened;
  const stats = fstatSync(descriptor, { bigint: true });
  const owner = Number(stats.uid);
  const linkOwner = linkOwners.find((user) => user !== owner);
  const judgement =
    linkOwner !== undefined
      ? refusal(`a symbolic link of user ${linkOwner} leads to it, a file of user ${owner}`)
      : writer === undefined || isOwn(owner)
        ? BELIEVED
        : judge(stats, writer, users);
  if (!judgement.isRefused) return { descriptor, remark: judgement.remark };
  closeSync(descriptor);
  return { descriptor: undefined, remark: judgement.remark };
}

interface Judgement {
  readonly isRefused: boolean;
  readonly remark: string;
}

const BELIEVED: Judgement = { isRefused: false, remark: '' };

function refusal(remark: string): Judgement {
  return { isRefused: true, remark };
}

/** Whether a file of that user is a matter of course: systems without users have none but this one. */
function isOwn(user: number): boolean {
  return process.geteuid === undefined || user === ROOT_USER || user === process.geteuid();
}

/** @param users of the process while it lives; undefined when it has ended */
function judge({ uid, birthtimeNs, ctimeNs }: BigIntStats, { pid, recordedUntilNs }: RecordedProcess, users: readonly number[] | undefined): Judgement {
  if (users !== undefined) return users.includes(Number(uid)) ? BELIEVED : refusal(`it is of user ${uid}, and process ${pid} is of user ${users[0]}`);
  // Neither can be set by users. File systems that do not know when a file was made know when it was changed last.
  const madeNs = birthtimeNs > 0n ? birthtimeNs : ctimeNs;
  if (recordedUntilNs !== undefined && madeNs > recordedUntilNs) {
    return refusal(`user ${uid} made it after the recording, and nothing tells that process ${pid} was of that user`);
  }
  return { isRefused: false, remark: `it is of user ${uid}, and nothing tells that process ${pid}, which has ended, was of that user` };
}

interface OpenFile {
  readonly descriptor: number;
  /** Owners of the symbolic links that were followed, but for root and this user. */
  readonly linkOwners: readonly number[];
}

/** @param isBelowRoot whether the path is one below `/proc/PID/root` */
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

/** Judges the last name of a path alone. */
function openLast(place: string | Buffer, followsLink: boolean): OpenFile | undefined {
  const stats = lstatSync(place);
  const isLink = stats.isSymbolicLink();
  // Opening a device may do something to it.
  if (isLink ? !followsLink || !statSync(place).isFile() : !stats.isFile()) return undefined;
  const descriptor = openSync(place, isLink ? READ : READ | NO_LINK);
  if (fstatSync(descriptor).isFile()) return { descriptor, linkOwners: isLink && !isOwn(stats.uid) ? [stats.uid] : [] };
  closeSync(descriptor);
  return undefined;
}

/** Where `starttime` is among the fields that follow the process's name. Source: proc_pid_stat(5). */
const START_TIME_AFTER_NAME = 19;

/**
 * The users of a process, its real one first; undefined when it has ended, or when the number is of one that was started after the recording.
 * Source: proc(5).
 */
function livingUsers({ pid, recordedUntilNs }: RecordedProcess): number[] | undefined {
  try {
    const users = /^Uid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // What follows the name, in which anything may be.
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
