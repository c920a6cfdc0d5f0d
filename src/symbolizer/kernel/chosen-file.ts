import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { isKnownBuildId } from '../../elf/build-id.ts';
import type { RecordedKernel } from './kernel-identity.ts';

/** A file that may be of the recorded kernel. */
export interface KernelFile {
  readonly path: string;
  /** What shows that it is more likely the right one than others that fit, in words; `undefined` for what does not. The strongest sign comes first. */
  readonly signs: readonly (string | undefined)[];
}

/** Signs in the path of a file: perf's cache keeps files in folders that are named after the build id, and people name copies after the release. */
export function signInPath(
  path: string,
  { buildId, osRelease }: RecordedKernel,
): { readonly ofBuildId: string | undefined; readonly ofRelease: string | undefined } {
  return {
    ofBuildId: isKnownBuildId(buildId) && path.toLowerCase().includes(buildId) ? 'the recorded build id is in its path' : undefined,
    ofRelease: namesRelease(path, osRelease) ? 'the recorded release is in its path' : undefined,
  };
}

/** Whether a path names a release, rather than another one that it is part of: `vmlinux-6.1.0-13` is not of 6.1.0-1. */
function namesRelease(path: string, release: string): boolean {
  if (release === '') return false;
  for (let at = path.indexOf(release); at >= 0; at = path.indexOf(release, at + 1)) {
    const [before, after] = [path.slice(Math.max(0, at - 2), at), path.slice(at + release.length)];
    if (!/\d\.?$/.test(before) && !/^(?:[\w+~-]|\.\d)/.test(after)) return true;
  }
  return false;
}

/**
 * The file to use of several that the user gave: the one with the strongest sign that no other one has, or else the last one. Says which it is, and why.
 * @param fitting those that may be of the kernel
 * @param given how many files the user gave
 * @param what they are, in words
 * @param isSure whether all that fit are of the recorded kernel, so that any of them will do
 */
export function chosenFile<File extends KernelFile>(
  fitting: readonly File[],
  given: number,
  { code, what, isSure = false }: { readonly code: string; readonly what: string; readonly isSure?: boolean },
  diagnostics: Diagnostics,
): File | undefined {
  let left = fitting;
  let why = fitting.length < given ? 'it is the only one of the recorded kernel' : '';
  for (let nth = 0; nth < (fitting.at(0)?.signs.length ?? 0) && left.length > 1; nth++) {
    const shown = left.filter(({ signs }) => signs[nth] !== undefined);
    if (shown.length === 0 || shown.length === left.length) continue;
    left = shown;
    why = shown[0].signs[nth] ?? '';
  }
  const chosen = left.at(-1);
  if (chosen === undefined || given < 2) return chosen;
  if (left.length === 1) diagnostics.add(code, 'info', `of ${given} ${what}, ${chosen.path} is used: ${why}`);
  else if (isSure) diagnostics.add(code, 'info', `of ${given} ${what}, ${chosen.path} is used: it is the last one of the recorded kernel`);
  else
    diagnostics.add(
      code,
      'warning',
      `of ${given} ${what}, ${chosen.path} is used: it is the last of ${left.length} that may be of the recorded kernel; give only the right one`,
    );
  return chosen;
}
