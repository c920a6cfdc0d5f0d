import { isKnownBuildId, sameBuildId } from '../../elf/build-id.ts';

/** The kernel that was recorded. */
export interface RecordedKernel {
  /** Lower-case hex; empty when unknown. */
  readonly buildId: string;
  /** Release as `uname -r` prints it; empty when unknown. */
  readonly osRelease: string;
  /** A symbol whose run-time address was recorded, `_text` or `_stext`, and that address; absent when none was. */
  readonly referenceSymbol?: string;
  readonly referenceAddress?: number;
}

/** The kernel that runs now. */
export interface RunningKernel {
  readonly osRelease: string;
  /** Lower-case hex; empty when unknown. */
  readonly buildId: string;
}

/** Whether two recordings, or two parts of one, were made under the same boot of the same kernel. */
export function isSameBoot(a: RecordedKernel, b: RecordedKernel): boolean {
  return a.buildId === b.buildId && a.osRelease === b.osRelease && a.referenceSymbol === b.referenceSymbol && a.referenceAddress === b.referenceAddress;
}

/**
 * Whether a DSO is the image of a virtual machine's kernel, which perf names `[guest.kernel.kallsyms]` or
 * `[guest.kernel.kallsyms.812]`.
 */
export function isGuestImage(name: string): boolean {
  return name.startsWith('[guest.kernel.kallsyms');
}

/** Why no kernel is known to be the recorded one, as where perf was killed before it wrote the header's features. */
export const UNIDENTIFIED_KERNEL = 'the recording has neither a release nor a build id to compare';

/** Whether the recording was made under the kernel that runs now. */
export function isSameKernel(recorded: RecordedKernel, running: RunningKernel | undefined): boolean {
  return running !== undefined && differenceOf(recorded, running) === '';
}

/**
 * Why the running kernel is not the recorded one, in words; empty when it is. Build ids decide if both are known; several builds may have the same release, but
 * comparing it is better than nothing.
 */
export function differenceOf(recorded: RecordedKernel, running: RunningKernel): string {
  if (recorded.osRelease !== '' && recorded.osRelease !== running.osRelease)
    return `it is Linux ${running.osRelease}, but the recording is from ${recorded.osRelease}`;
  if (isKnownBuildId(recorded.buildId) && isKnownBuildId(running.buildId)) {
    return sameBuildId(recorded.buildId, running.buildId) ? '' : `its build id is ${running.buildId}, but the recording has ${recorded.buildId}`;
  }
  return recorded.osRelease === '' ? UNIDENTIFIED_KERNEL : '';
}

/** Whether a release can be part of a path. A recording may hold anything. */
export function isPlainRelease(osRelease: string): boolean {
  return /^[\w.+~-]+$/.test(osRelease) && !/^\.+$/.test(osRelease);
}

/**
 * What to add to addresses in a symbol list or a vmlinux to get the recorded ones: another boot of the same kernel may be at another address (KASLR). 0 if no
 * address was recorded; undefined if there is no such symbol, so that it is another kernel.
 * @param addressOf the address of a symbol there
 */
export function shiftOf({ referenceSymbol, referenceAddress }: RecordedKernel, addressOf: (name: string) => number | undefined): number | undefined {
  if (referenceSymbol === undefined || referenceAddress === undefined) return 0;
  const address = addressOf(referenceSymbol);
  return address === undefined ? undefined : referenceAddress - address;
}
