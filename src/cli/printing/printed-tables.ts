import { PerfconvError } from '../../base/problems/errors.ts';
import { type ReportLayout, UNKNOWN_CODE, WEIGHTS } from '../../pipeline/choices.ts';
import type { Arguments } from '../command-line/arguments.ts';
import { isReaderGone } from './standard-output.ts';
import { type Terminal, terminalWidth } from './terminal.ts';

/** What all commands that print tables let one choose. @throws PerfconvError `usage` */
export function tableOptions(args: Arguments, terminal: Terminal) {
  const limit = args.count('limit');
  const weight = args.choice('weight', WEIGHTS);
  const unknown = args.choice('unknown', UNKNOWN_CODE);
  return {
    children: args.flag('children'),
    layout: tableLayout(args),
    // Names are cut, so that rows stay on one line each.
    ...terminalWidth(terminal),
    ...(limit !== undefined && { limit }),
    ...(weight && { weight }),
    ...(unknown && { unknown }),
  };
}

function tableLayout(args: Arguments): ReportLayout {
  const [json, markdown] = [args.flag('json'), args.flag('markdown')];
  if (json && markdown) throw new PerfconvError('usage', '--json cannot be combined with --markdown');
  return json ? 'json' : markdown ? 'markdown' : 'text';
}

/** Prints until the reader of standard output goes away (`| head`). */
export async function untilReaderIsGone(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isReaderGone(error)) throw error;
  }
}
