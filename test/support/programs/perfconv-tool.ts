import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ScriptSample } from '../perf/perf-script-text.ts';
import { parsePerfScript } from '../perf/perf-script-text.ts';
import type { ToolResult } from '../perf/perf-tool.ts';
import { lastLines, readWithPerf, runTool } from '../perf/perf-tool.ts';
import { parseCsv } from '../readers/parse-csv.ts';

const command = fileURLToPath(new URL('../../../bin/perfconv.js', import.meta.url));

/** Why the command line cannot be tested; undefined when it can. If it is there, it must work. */
export function whyNoPerfconv(): string | undefined {
  return existsSync(command) ? undefined : 'bin/perfconv.js does not exist';
}

/** Runs this project's command. */
export function runPerfconv(args: readonly string[], input?: Uint8Array): ToolResult {
  return runTool(process.execPath, [command, ...args], input === undefined ? {} : { input });
}

/** Runs `perfconv convert`, which must succeed. @throws Error with its message when it does not */
export function convert(args: readonly string[]): ToolResult {
  const result = runPerfconv(['convert', ...args]);
  if (result.status !== 0) throw new Error(`perfconv convert ${args.join(' ')}: status ${result.status}: ${lastLines(result.stderr)}`);
  return result;
}

/** Both tools print symbols as they are in the files. */
const asInTheFile = ['--no-inline', '--no-demangle'] as const;

/**
 * What both tools print for a recording, by default or with `extra` arguments.
 * @param naming options of both for printing symbols
 */
export function scriptsOf(
  file: string,
  extra: readonly string[] = [],
  naming: readonly string[] = asInTheFile,
): { readonly perf: ScriptSample[]; readonly perfconv: ScriptSample[] } {
  return {
    perf: parsePerfScript(readWithPerf('script', file, [...naming, ...extra])),
    perfconv: parsePerfScript(convert(['-t', 'script', '--compat', 'perf', ...naming, ...extra, '-o', '-', file]).stdout),
  };
}

/** The rows of `perfconv report --compat perf`, unparsed, by event: files first, then functions as they are in them. */
export function reportLinesOf(file: string, extra: readonly string[] = []): { readonly event: string; readonly lines: readonly string[] }[] {
  const { status, stdout, stderr } = runPerfconv(['report', '--compat', 'perf', '--no-demangle', '--sort', 'dso,function', ...extra, file]);
  if (status !== 0) throw new Error(`perfconv report ${file}: status ${status}: ${lastLines(stderr)}`);
  return stdout
    .trimEnd()
    .split('\n\n')
    .map((table) => {
      const [heading, , ...lines] = table.split('\n');
      const [, event] = /^# (.*): \d+ samples?, period/.exec(heading) ?? [];
      if (event === undefined) throw new Error(`perfconv report: ${heading}`);
      return { event, lines };
    });
}

/** readperf's four CSV tables of a recording, as rows by column name. */
export function csvTablesOf(file: string, directory: string): Record<'stat' | 'overview' | 'processes' | 'results', Record<string, string>[]> {
  convert(['-t', 'csv', '--compat', 'perf', ...asInTheFile, '-o', directory, file]);
  const read = (name: string): Record<string, string>[] => parseCsv(readFileSync(join(directory, `${name}.csv`), 'utf8'));
  return { stat: read('stat'), overview: read('overview'), processes: read('processes'), results: read('results') };
}
