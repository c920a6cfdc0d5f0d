import pc from 'picocolors';
import type { Terminal } from './terminal.ts';

/** Painters for standard output: they paint nothing if it is no terminal, or one without colors, or if NO_COLOR asks for none. */
export function outputColors({ stdout, env }: Terminal): ReturnType<typeof pc.createColors> {
  return pc.createColors(stdout.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb');
}
