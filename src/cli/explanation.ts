import type { DsoSymbols } from '../naming/dso-symbols.ts';
import type { ReadProfileOptions } from '../pipeline/read-profile.ts';
import type { Arguments } from './arguments.ts';
import { printMessage } from './standard-error.ts';
import { symbolsText } from './symbols-text.ts';
import type { Terminal } from './terminal.ts';

/** Runs `read` and, with `--explain-symbols`, says afterwards where was looked for symbols and what was found. */
export async function explainingSymbols<T>(
  args: Arguments,
  terminal: Terminal,
  read: (onSymbols: Pick<ReadProfileOptions, 'onSymbols'>) => Promise<T>,
): Promise<T> {
  if (!args.flag('explain-symbols')) return read({});
  let dsos: readonly DsoSymbols[] = [];
  const result = await read({
    onSymbols: (found) => {
      dsos = found;
    },
  });
  for (const line of symbolsText(dsos).trimEnd().split('\n')) printMessage(terminal, line);
  return result;
}
