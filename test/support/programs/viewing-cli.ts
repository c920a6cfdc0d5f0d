import { type RunningCli, startCli } from './built-cli.ts';

/** An environment in which no browser is opened, on any system. */
export const OVER_SSH = { SSH_CONNECTION: '10.0.0.2 50000 10.0.0.1 22' };
/** One in which xdg-open is called, which must be a stand-in. */
export const WITH_DISPLAY = { SSH_CONNECTION: '', SSH_TTY: '', DISPLAY: ':9', WAYLAND_DISPLAY: '' };

/** `perfconv view` at work. */
export interface ViewingCli extends RunningCli {
  /** The address of the page, when it is printed. @throws Error if the program ends before */
  address(): Promise<string>;
  /** Waits until standard error has a text. @throws Error if the program ends before */
  says(text: string): Promise<void>;
}

/** Starts `perfconv view` in a directory. @param env what differs in its environment */
export function startView(args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = OVER_SSH): ViewingCli {
  const cli = startCli(['view', ...args], cwd, true, env);
  const { stdout, stderr } = cli.child;
  const [printed, said] = [untilMatch(stdout, cli), untilMatch(stderr, cli)];
  return {
    ...cli,
    address: async () => (await printed(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]+\n$/)).trimEnd(),
    says: async (text) => {
      await said(text);
    },
  };
}

function untilMatch(stream: RunningCli['child']['stdout'], { child }: RunningCli): (wanted: string | RegExp) => Promise<string> {
  let all = '';
  stream.on('data', (chunk: Buffer) => (all += chunk));
  return (wanted) =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (typeof wanted === 'string' ? all.includes(wanted) : wanted.test(all)) resolve(all);
      };
      stream.on('data', look);
      child.once('close', () => reject(new Error(`it ended with ${JSON.stringify(all)}`)));
      look();
    });
}
