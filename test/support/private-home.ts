import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Toolchains that tests run, which are below the home directory unless these variables say otherwise. */
const TOOLCHAINS: Readonly<Record<string, string>> = { RUSTUP_HOME: '.rustup', CARGO_HOME: '.cargo', GOPATH: 'go', PYENV_ROOT: '.pyenv' };

/**
 * Gives a test run a home directory of its own, for every process it starts and for the library itself: perf keeps its build-id cache there
 * (`~/.debug`, a hundred megabytes for each recording), debuginfod its files, and perfconv looks for symbols in both. So tests neither fill
 * the user's home nor depend on what is in it. Vitest calls this once, before it starts its workers.
 * @returns a function that removes the directory at the end of the run
 */
export default function usePrivateHome(): () => void {
  const usersHome = ownHome();
  for (const [variable, directory] of Object.entries(TOOLCHAINS)) {
    const path = join(usersHome, directory);
    if (process.env[variable] === undefined && existsSync(path)) process.env[variable] = path;
  }
  const home = mkdtempSync(join(tmpdir(), 'perfconv-home-'));
  process.env[process.platform === 'win32' ? 'USERPROFILE' : 'HOME'] = home;
  // These would lead back to the user's own.
  for (const variable of ['XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'DEBUGINFOD_CACHE_PATH', 'PPROF_BINARY_PATH']) delete process.env[variable];
  return () => rmSync(home, { recursive: true, force: true });
}

/** The user's home directory; for a user without one, a directory that does not exist. */
function ownHome(): string {
  try {
    return homedir();
  } catch {
    return '/nonexistent';
  }
}
