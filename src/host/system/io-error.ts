import { messageOf, PerfconvError } from '../../base/problems/errors.ts';

/** What the operating system's errors mean, in words that users know. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  ENOTDIR: 'a part of the path is not a directory',
  ENOTEMPTY: 'is a directory that is not empty',
  EISDIR: 'is a directory',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left on device',
  EDQUOT: 'disk quota exceeded',
  EFBIG: 'the file is too large for its file system, or for the limit on files (ulimit -f)',
  EIO: 'input/output error',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files in the system',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'too many symbolic links',
  EBADF: 'is not open for this operation',
  ENOMEM: 'out of memory',
  EPIPE: 'the reader has gone away',
  EBUSY: 'is in use',
  EADDRINUSE: 'is in use by another program',
  EXDEV: 'is on another file system',
  ETXTBSY: 'is a running program',
  ENXIO: 'no such device',
};

/** The operating system's code of an error (`ENOENT`), looked for along its causes; undefined if it has none. */
export function systemCode(error: unknown): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && /^E[A-Z]+$/.test(at.code)) return at.code;
  }
  return undefined;
}

/** Whether the process or the system has run out of descriptors. Such an error says nothing about the file that was to be opened. */
export function isOutOfDescriptors(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'EMFILE' || code === 'ENFILE';
}

/** Whether the process may not do what it tried: by the system's word, or by that of Node's permission model (`node --permission`). */
export function isForbidden(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'EACCES' || code === 'EPERM' || (error instanceof Error && 'code' in error && error.code === 'ERR_ACCESS_DENIED');
}

/** An `io` error for any system call that failed, such as opening a module of this program; undefined for other errors. */
export function refusalOf(error: unknown): PerfconvError | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || systemCode(error) === undefined) return undefined;
  return ioError(error, 'path' in error && typeof error.path === 'string' ? error.path : String(error.syscall));
}

/** What a system error means, in the words of messages, such as `no space left on device`. */
export function reasonOf(error: unknown): string {
  return REASONS[systemCode(error) ?? ''] ?? messageOf(error);
}

/** An `io` error about a file, from what the system threw. A PerfconvError is returned as it is. */
export function ioError(error: unknown, file: string): PerfconvError {
  if (error instanceof PerfconvError) return error;
  return new PerfconvError('io', reasonOf(error), { file }, { cause: error });
}
