import type { ScriptSample } from './perf-script-text.ts';

/**
 * Folds perf's text as stackcollapse-perf.pl does: one line `comm;root;…;leaf` for each distinct stack, frames by their names without
 * offsets, code without a name as its file.
 * @returns periods by line
 * @throws Error for a sample without a period
 */
export function foldScript(samples: readonly ScriptSample[]): Map<string, bigint> {
  const folded = new Map<string, bigint>();
  for (const { comm, frames, line, period } of samples) {
    if (period === undefined) throw new Error(`line ${line}: a sample without a period`);
    const names = frames.map(({ dso, symbol }) => (symbol === '[unknown]' ? nameOfFile(dso) : symbol.replace(/\+0x[0-9a-f]+$/, '')));
    const stack = [comm.replaceAll(/\s/g, '_'), ...names.reverse()].join(';');
    folded.set(stack, (folded.get(stack) ?? 0n) + BigInt(period));
  }
  return folded;
}

function nameOfFile(dso: string): string {
  return dso.startsWith('[') ? dso : `[${dso.slice(dso.lastIndexOf('/') + 1)}]`;
}
