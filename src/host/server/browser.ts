import type { ChildProcess } from 'node:child_process';
import { win32 } from 'node:path';
import { reasonOf } from '../system/io-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether the user would see a browser that is started here. Over ssh, the user sits at another machine: a forwarded display (ssh -X) would show a browser of
 * this one, slowly, if there is one at all.
 */
export function canShowBrowser(env: Environment, platform: NodeJS.Platform = process.platform): boolean {
  if (env.SSH_CONNECTION || env.SSH_TTY) return false;
  return platform === 'win32' || platform === 'darwin' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
}

/**
 * The program that opens an address in the user's browser, and its arguments. No shell reads them.
 * Source: xdg-open(1), open(1); rundll32 does what `start` of cmd.exe does.
 */
export function browserCommand(
  url: string,
  env: Environment,
  platform: NodeJS.Platform = process.platform,
): { readonly program: string; readonly args: string[] } {
  if (platform === 'darwin') return { program: '/usr/bin/open', args: [url] };
  if (platform !== 'win32') return { program: 'xdg-open', args: [url] };
  // By its path, since Windows looks for a name in the working directory first, where others may have put a program.
  return { program: win32.join(env.SystemRoot || 'C:\\Windows', 'System32', 'rundll32.exe'), args: ['url.dll,FileProtocolHandler', url] };
}

/**
 * Opens an address in the user's browser, which goes on when this program has ended.
 * @param onFailure called with the reason if that fails, which may be known only later
 */
export async function openInBrowser(url: string, env: Environment, onFailure: (reason: string) => void): Promise<void> {
  const { spawn } = await import('node:child_process');
  const { program, args } = browserCommand(url, env);
  let child: ChildProcess;
  try {
    // In a session of its own, or Ctrl-C would end a browser that was not running before.
    child = spawn(program, args, { detached: true, env: { ...env }, stdio: 'ignore', windowsHide: true });
  } catch (error) {
    // Node's permission model, or a system without memory.
    onFailure(`${program}: ${reasonOf(error)}`);
    return;
  }
  child.on('error', (error) => onFailure(`${program}: ${reasonOf(error)}`));
  child.on('exit', (status) => {
    if (status !== 0 && status !== null) onFailure(`${program} ended with status ${status}`);
  });
  // It may run as long as the browser does.
  child.unref();
}
