/** `C:\`, `c:/`, `\\server`: where Windows' paths begin. */
const WINDOWS_ROOT = /^(?:[A-Za-z]:[\\/]|\\\\)/;

/** Whether a path says by itself where it begins, on whatever system it was written. */
export function isAbsolutePath(path: string): boolean {
  return path.startsWith('/') || WINDOWS_ROOT.test(path);
}

/**
 * Joins directories and a name, each relative to the one before, and resolves `.`, `..` and doubled separators. A path whose
 * root is Windows' keeps that system's separators, as its first part writes them; backslashes are letters elsewhere.
 * @returns a path that begins with `..` only where a relative one leads out of where it begins
 */
export function joinSourcePath(...parts: readonly string[]): string {
  let first = parts.length - 1;
  while (first > 0 && !isAbsolutePath(parts[first])) first--;
  const named = parts.slice(first).filter((part) => part !== '');
  if (named.length === 0) return '';
  return WINDOWS_ROOT.test(named[0]) ? normalisedWindows(named) : normalised(named.join('/'));
}

function normalised(path: string): string {
  // Most are: and most of them are asked for again and again.
  if (!/\/\/|(?:^|\/)\.{1,2}(?:\/|$)/.test(path)) return path;
  const root = path.startsWith('/') ? '/' : '';
  return root + resolved(path.split('/'), root !== '').join('/');
}

function normalisedWindows(parts: readonly string[]): string {
  const separator = parts[0].includes('\\') ? '\\' : '/';
  const path = parts.join(separator);
  const isServer = path.startsWith('\\\\');
  const [root, ...rest] = path.slice(isServer ? 2 : 0).split(/[\\/]/);
  return (isServer ? '\\\\' : '') + [root, ...resolved(rest, true)].join(separator);
}

function resolved(names: readonly string[], isRooted: boolean): string[] {
  const kept: string[] = [];
  for (const name of names) {
    if (name === '' || name === '.') continue;
    if (name !== '..') kept.push(name);
    else if (kept.length > 0 && kept[kept.length - 1] !== '..') kept.pop();
    else if (!isRooted) kept.push(name);
  }
  return kept;
}
