import { runMain } from '../programs/run-main.ts';
import { parsePerfScript, type ScriptSample } from './perf-script-text.ts';

/**
 * The samples that `perfconv convert -t script` prints.
 * @param args the recording and further options
 * @throws Error with the messages of the program if it fails
 */
export async function ownScriptOf(...args: readonly string[]): Promise<ScriptSample[]> {
  const { status, stdout, stderr } = await runMain(['convert', '-t', 'script', ...args, '-o', '-']);
  if (status !== 0) throw new Error(stderr);
  return parsePerfScript(stdout.toString());
}

/**
 * The symbols of all frames that perf has in certain DSOs, each beside perfconv's.
 * @param own as many samples as perf has
 */
export function symbolsBeside(perf: readonly ScriptSample[], own: readonly ScriptSample[], dso: RegExp): [perf: string, own: string][] {
  if (own.length !== perf.length) throw new Error(`perf has ${perf.length} samples, perfconv ${own.length}`);
  return perf.flatMap(({ frames }, i) =>
    frames.flatMap((frame, j): [string, string][] => (dso.test(frame.dso) ? [[frame.symbol, own[i].frames[j]?.symbol ?? 'no frame']] : [])),
  );
}
