/** How paths of Windows begin: `C:\`, `c:/`, `\\server`. */
const WINDOWS_ROOT = /^(?:[A-Za-z]:[\\/]|\\\\)/;

/** Whether a path is absolute, on whatever system it was written. */
export function isAbsolutePath(path: string): boolean {
  return path.startsWith('/') || WINDOWS_ROOT.test(path);
}

/**
 * Joins directories and a name, each relative to the one before, and resolves `.`, `..` and doubled separators. A path with a root of
 * Windows keeps the separators that its first part uses. Elsewhere, backslashes are ordinary characters.
 * @returns a path that begins with `..` only if a relative one leads out of where it begins
 */
export function joinSourcePath(...parts: readonly string[]): string {
  let first = parts.length - 1;
  while (first > 0 && !isAbsolutePath(parts[first])) first--;
  const named = parts.slice(first).filter((part) => part !== '');
  if (named.length === 0) return '';
  return WINDOWS_ROOT.test(named[0]) ? normalizedWindows(named) : normalized(named.join('/'));
}

function normalized(path: string): string {
  // Most paths already are.
  if (!/\/\/|(?:^|\/)\.{1,2}(?:\/|$)/.test(path)) return path;
  const root = path.startsWith('/') ? '/' : '';
  return root + resolved(path.split('/'), root !== '').join('/');
}

function normalizedWindows(parts: readonly string[]): string {
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
