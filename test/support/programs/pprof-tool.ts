import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ToolResult } from '../perf/perf-tool.ts';
import { lastLines, runTool } from '../perf/perf-tool.ts';

/** The real pprof: on the PATH, where `go install` puts it, or in the project's .tmp/bin; undefined if there is none. */
export function findPprof(): string | undefined {
  const go = spawnSync('go', ['env', 'GOBIN', 'GOPATH'], { encoding: 'utf8' });
  const [goBin = '', goPath = ''] = go.status === 0 ? go.stdout.split('\n') : [];
  const folders = [goBin, goPath && join(goPath, 'bin'), fileURLToPath(new URL('../../.tmp/bin', import.meta.url))];
  const files = folders.filter((folder) => folder !== '').map((folder) => join(folder, 'pprof'));
  return ['pprof', ...files.filter((file) => existsSync(file))].find((path) => spawnSync(path, ['-version'], { stdio: 'ignore' }).error === undefined);
}

/** The message for a missing pprof. */
export const noPprof = 'no pprof on the PATH, where `go install` puts it, or in .tmp/bin (go install github.com/google/pprof@latest)';

/** Runs pprof on a profile; it must succeed. @param scratch where pprof may leave files @throws Error with its message when it does not */
export function runPprof(pprof: string, args: readonly string[], file: string, scratch: string): ToolResult {
  const result = runTool(pprof, [...args, file], { cwd: scratch, env: { PPROF_TMPDIR: scratch } });
  if (result.status !== 0) throw new Error(`pprof ${args.join(' ')}: status ${result.status}: ${lastLines(result.stderr)}`);
  return result;
}

/** A profile as `pprof -raw` prints it. */
export interface RawPprof {
  /** `samples/count`, `cpu/nanoseconds` … in the file's order. */
  readonly types: readonly string[];
  /** The one that is marked as the default. */
  readonly defaultType: string | undefined;
  /** Sums over the samples, by type. */
  readonly totals: ReadonlyMap<string, bigint>;
  readonly samples: number;
}

/** Parses `pprof -raw`. @throws Error when it has no samples section */
export function parseRawPprof(text: string): RawPprof {
  const lines = text.split('\n');
  const start = lines.indexOf('Samples:');
  const end = lines.indexOf('Locations');
  if (start < 0 || end < start) throw new Error('pprof -raw: no samples');
  const marked = (lines[start + 1] ?? '').trim().split(' ');
  const types = marked.map((type) => type.replace('[dflt]', ''));
  const rows = lines.slice(start + 2, end).flatMap((line) => /^\s*(\d+(?: +\d+)*):(?: |$)/.exec(line)?.[1] ?? []);
  const values = rows.map((row) => row.split(/ +/).map(BigInt));
  return {
    types,
    defaultType: marked.find((type) => type.endsWith('[dflt]'))?.replace('[dflt]', ''),
    totals: new Map(types.map((type, column) => [type, values.reduce((sum, row) => sum + (row[column] ?? 0n), 0n)])),
    samples: rows.length,
  };
}
