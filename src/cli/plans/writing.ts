import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { COMMAND_LINE_OPTIONS } from '../../base/problems/option-words.ts';
import { wordList } from '../../base/text/word-list.ts';
import { EXPORTER } from '../../base/version.ts';
import { withoutUndefined } from '../../base/without-undefined.ts';
import {
  CHROME_STYLES,
  checkFieldRequest,
  FOLDED_MARKS,
  type FoldedMark,
  GROUPS,
  PPROF_LABELS,
  type PprofLabel,
  SCRIPT_EVENT_TYPES,
  SCRIPT_FIELDS,
  type ScriptFieldRequest,
  type ScriptTimes,
  UNKNOWN_CODE,
  WEIGHTS,
} from '../../pipeline/choices.ts';
import { type Format, WALL_CLOCK_FORMATS } from '../../pipeline/formats.ts';
import type { WriteOptions } from '../../pipeline/write-profile.ts';
import type { Arguments } from '../command-line/arguments.ts';
import type { PlannedOutput } from './outputs.ts';

/** The formats that an option has an effect on. */
const FORMATS_OF_OPTION: Readonly<Record<string, readonly Format[]>> = {
  weight: ['pprof', 'speedscope', 'folded', 'firefox', 'html', 'otlp'],
  unknown: ['pprof', 'speedscope', 'chrome', 'cpuprofile', 'csv', 'folded', 'firefox', 'html', 'parquet', 'otlp'],
  'by-input': ['folded', 'speedscope', 'html'],
  marks: ['folded'],
  labels: ['pprof', 'otlp'],
  group: ['speedscope', 'chrome'],
  'chrome-style': ['chrome'],
  'csv-safe': ['csv'],
  fields: ['script'],
  ns: ['script'],
  reltime: ['script'],
  deltatime: ['script'],
  'wall-clock': WALL_CLOCK_FORMATS,
};

/** How outputs are written, as the options say. @throws PerfconvError `usage` */
export function planWriting(args: Arguments): WriteOptions {
  return withoutUndefined({
    ...planPage(args),
    ns: args.flag('ns'),
    times: readTimes(args),
    wallClock: args.flag('wall-clock'),
    csvSafe: args.flag('csv-safe'),
    marks: readMarks(args),
    labels: readLabels(args),
    group: args.choice('group', GROUPS),
    chromeStyle: args.choice('chrome-style', CHROME_STYLES),
    fields: readFields(args),
  });
}

/** How a page is written. Other formats have these options, too. @throws PerfconvError `usage` */
export function planPage(args: Arguments): WriteOptions {
  return withoutUndefined({
    exporter: EXPORTER,
    byInput: args.flag('by-input'),
    unknown: args.choice('unknown', UNKNOWN_CODE) ?? (args.choice('compat', ['perf']) && 'address'),
    weight: args.choice('weight', WEIGHTS),
  });
}

/** Reports options that have no effect on the formats that are written. */
export function reportUnusedOptions(outputs: readonly PlannedOutput[], args: Arguments, diagnostics: Diagnostics): void {
  const formats = [...new Set(outputs.map((output) => output.format))];
  const unused = Object.entries(FORMATS_OF_OPTION).filter(([name, concerned]) => args.isGiven(name) && !concerned.some((format) => formats.includes(format)));
  if (unused.length === 0) return;
  const names = wordList(unused.map(([name]) => `--${name}`));
  diagnostics.add('unused-option', 'warning', `${names} ${unused.length > 1 ? 'have' : 'has'} no effect on ${wordList(formats)}`);
}

/** Reports outputs that nothing opens until they are unpacked again. */
export function reportPackedTables(outputs: readonly PlannedOutput[], diagnostics: Diagnostics): void {
  if (!outputs.some(({ format, gzip }) => format === 'parquet' && gzip)) return;
  diagnostics.add('parquet-gz', 'warning', 'readers of Parquet do not unpack .gz files, and what is in it is compressed already: leave out .gz');
}

/** `comm,ip` replaces the default fields, `+addr,-period` changes them, and `trace:comm,trace` concerns events of one type. */
function readFields(args: Arguments): ScriptFieldRequest[] | undefined {
  const requests = args.texts('fields').map((text): ScriptFieldRequest => {
    const [, type, list] = /^(?:([^:,]*):)?(.*)$/s.exec(text) ?? [];
    const fields = type !== undefined && list === '' ? [] : args.signedChoices('fields', list, SCRIPT_FIELDS);
    return { ...(type !== undefined && { type: args.oneOf('fields', type, SCRIPT_EVENT_TYPES) }), fields };
  });
  for (const request of requests) checkFieldRequest(request, COMMAND_LINE_OPTIONS);
  return requests.length === 0 ? undefined : requests;
}

function readTimes(args: Arguments): ScriptTimes | undefined {
  const isRelative = args.flag('reltime');
  if (!args.flag('deltatime')) return isRelative ? 'relative' : undefined;
  if (isRelative) throw new PerfconvError('usage', '--reltime cannot be combined with --deltatime');
  return 'delta';
}

function readMarks(args: Arguments): FoldedMark[] | undefined {
  return withoutNone('marks', args.choices('marks', [...FOLDED_MARKS, 'none' as const]));
}

function readLabels(args: Arguments): PprofLabel[] | undefined {
  return withoutNone('labels', args.choices('labels', [...PPROF_LABELS, 'none' as const]));
}

function withoutNone<Value extends string>(option: string, chosen: readonly (Value | 'none')[] | undefined): Value[] | undefined {
  if (chosen === undefined) return undefined;
  if (chosen.includes('none') && chosen.length > 1) throw new PerfconvError('usage', `--${option} none cannot be combined with other ${option}`);
  return chosen.filter((one): one is Value => one !== 'none');
}
