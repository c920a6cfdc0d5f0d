import type { DebuginfodClient } from '../../host/symbols/debuginfod.ts';
import { debuginfodClient } from '../../host/symbols/debuginfod-servers.ts';
import type { Arguments } from '../command-line/arguments.ts';
import { displayName } from '../printing/messages.ts';
import { printMessage, redrawLine } from '../printing/standard-error.ts';
import type { Terminal } from '../printing/terminal.ts';

/**
 * A client of the servers that `--debuginfod` names, which serves all inputs; undefined without the option.
 * @throws PerfconvError `usage`, `io` when there is no place for the cache
 */
export function planDebuginfod(args: Arguments, terminal: Terminal): DebuginfodClient | undefined {
  const note = (url: string, sizeBytes: number | undefined): void => {
    const size = sizeBytes === undefined ? '' : sizeBytes < 1e6 ? ` ${Math.ceil(sizeBytes / 1e3)} kB` : ` ${(sizeBytes / 1e6).toFixed(1)} MB`;
    if (terminal.stderr.isTTY) redrawLine(terminal, '');
    printMessage(terminal, `perfconv: fetching${size} from ${displayName(url)}`);
  };
  return debuginfodClient(args.texts('debuginfod'), '--debuginfod', terminal.env, args.flag('quiet') ? undefined : note);
}
