import type { ByteSink } from '../../base/streams/byte-sink.ts';
import type { Profile } from '../../profile/profile.ts';
import { JsonWriter } from '../json-text.ts';
import { percentText } from '../percent.ts';
import { totalsText } from '../report/headline.ts';
import type { Sums } from '../report/node-weights.ts';
import type { ReportLayout } from '../report/report.ts';
import { eventJson, jsonField, jsonObject, putJsonLines, sumsFields } from '../tables/json.ts';
import type { NumberColumn, Table, TextLine } from '../tables/table.ts';
import { omittedNotes, writeTables } from '../tables/write-tables.ts';
import { wholeNumber } from '../whole-number.ts';
import { type DiffOptions, type DiffRow, type DiffTable, type EventPair, ProfileDiff } from './diff.ts';

/** Version of schema/diff.schema.json. It grows when a field is removed or changes its meaning. */
const DIFF_SCHEMA_VERSION = 1;

/** What stands in place of a number of a recording that does not have the row. */
const ABSENT = '-';

export interface WriteDiffOptions extends DiffOptions {
  /** Rows per event at most; one line reports the rest. Default: all. */
  readonly limit?: number;
  /** How it is written: as text, as JSON for programs, or in GitHub's Markdown. Default: text. */
  readonly layout?: ReportLayout;
  /** Columns of the terminal, to which names are cut. Default: they are not cut. */
  readonly width?: number;
  /** Colors a change for a terminal: gets the padded text, and −1, 0 or 1 for what became faster, did not change beyond noise, or became slower. Default: none. */
  readonly paintChange?: (text: string, direction: number) => string;
}

/** A profile, and what its recording is called. */
export interface DiffSide {
  readonly profile: Profile;
  readonly label: string;
}

/**
 * Writes what became slower and faster from one profile to another: a table for each pair of events, rows by the size of their change. By default, figures are
 * shares: a function's part of all that its own recording has.
 * @throws PerfconvError `no-samples` for a profile without any; `usage` for an empty list of sort keys
 */
export async function writeDiff(base: DiffSide, next: DiffSide, pairs: readonly EventPair[], sink: ByteSink, options: WriteDiffOptions = {}): Promise<void> {
  const diff = new ProfileDiff(base.profile, next.profile, pairs, options);
  const labels = { base: base.label, next: next.label };
  const { layout = 'text', limit = Number.POSITIVE_INFINITY, width } = options;
  if (layout === 'json') return writeDiffJson(diff, labels, limit, new JsonWriter(sink));
  await writeTables(tablesOf(diff, labels, options), sink, layout, width);
}

/** What the two recordings are called. */
interface Labels {
  readonly base: string;
  readonly next: string;
}

/** One table after the other. */
function* tablesOf(diff: ProfileDiff, labels: Labels, options: WriteDiffOptions): Generator<Table<DiffRow>, void, void> {
  for (const table of diff.tables()) yield tableOf(diff, labels, table, options);
}

/** A comparison as people read it. */
function tableOf(diff: ProfileDiff, labels: Labels, table: DiffTable, { limit = Number.POSITIVE_INFINITY, paintChange }: WriteDiffOptions): Table<DiffRow> {
  const { rows } = table;
  const shown = rows.slice(0, limit);
  const hasNoise = rows.some(({ noise }) => noise !== undefined);
  return {
    headlines: [...headlinesOf(diff, labels, table), ...(hasNoise ? [['±: two standard errors of sampling; what differs from run to run comes on top']] : [])],
    numbers: [
      { name: 'base', width: 6, text: ({ base, basePercent }) => (base === undefined ? ABSENT : percentText(basePercent)) },
      { name: 'new', width: 6, text: ({ next, nextPercent }) => (next === undefined ? ABSENT : percentText(nextPercent)) },
      {
        name: 'change',
        width: 7,
        text: ({ change }) => signedPercent(change),
        ...(paintChange && { paint: (text, row) => paintChange(text, directionOf(row)) }),
      },
      ...(hasNoise ? [{ name: '±', width: 5, text: ({ noise = 0 }: DiffRow) => percentText(noise) }] : []),
      pairColumn('samples', shown, ({ samples }) => String(samples)),
      { ...pairColumn('period', shown, ({ period, periodRemainder }) => wholeNumber(period, periodRemainder)), isOptional: true },
    ],
    names: diff.keys.map((key, column) => ({ name: key, text: ({ names }) => names[column], isPath: key === 'dso' })),
    rows: shown,
    notes: omittedNotes(rows.length - shown.length),
  };
}

/** Which event of which recordings is compared, and by what. */
function headlinesOf({ absolute, weighsBy }: ProfileDiff, labels: Labels, { base, next, ratio }: DiffTable): TextLine[] {
  const what = absolute ? `in per cent of BASE's ${weighsBy}` : `shares of each recording's ${weighsBy} in per cent`;
  return [
    [{ name: base.name }, ...(next.name === base.name ? [] : [' and ', { name: next.name }]), `: ${what}, change in percentage points`],
    ['BASE ', { name: labels.base }, `: ${totalsText(base)}`],
    ['NEW ', { name: labels.next }, `: ${totalsText(next)}${ratio === undefined ? '' : ` (${ratio.toFixed(3)} × BASE)`}`],
  ];
}

/** −1, 0 or 1 for a share that fell, did not change beyond noise, or rose. */
function directionOf({ change, noise = 0 }: DiffRow): number {
  return Math.abs(change) > noise ? Math.sign(change) : 0;
}

/** `+1.50`; `0.00` has no sign. */
function signedPercent(change: number): string {
  const text = percentText(Math.abs(change));
  return Number(text) === 0 ? text : `${change < 0 ? '-' : '+'}${text}`;
}

/** A column with a number of each recording: `361 → 590`. */
function pairColumn(name: string, rows: readonly DiffRow[], textOf: (sums: Sums) => string): NumberColumn<DiffRow> {
  const text = (sums: Sums | undefined): string => (sums === undefined ? ABSENT : textOf(sums));
  const widest = rows.reduce((most, { next }) => Math.max(most, text(next).length), 0);
  return { name, width: 0, text: ({ base, next }) => `${text(base)} → ${text(next).padStart(widest)}` };
}

/** Writes a comparison as one JSON document: schema/diff.schema.json. */
async function writeDiffJson(diff: ProfileDiff, labels: Labels, limit: number, out: JsonWriter): Promise<void> {
  const { keys, children, absolute, weighsBy } = diff;
  const head = [jsonField('schemaVersion', DIFF_SCHEMA_VERSION), jsonField('base', labels.base), jsonField('new', labels.next)];
  const choices = [`"sort":${JSON.stringify(keys)}`, jsonField('children', children), jsonField('weight', weighsBy), jsonField('absolute', absolute)];
  out.put(`{${[...head, ...choices].join(',\n')},\n"events":[`);
  let separator = '\n';
  for (const { base: baseEvent, next: nextEvent, rows, ratio } of diff.tables()) {
    const shown = rows.slice(0, limit);
    const totals = [`"base":${eventJson(baseEvent)}`, `"new":${eventJson(nextEvent)}`, ...(ratio === undefined ? [] : [jsonField('ratio', ratio)])];
    out.put(`${separator}{${totals.join(',\n')},\n"rows":[`);
    separator = ',\n';
    await putJsonLines(out, shown, (row) => rowJson(diff, row));
    out.put(`],\n${jsonField('omittedRows', rows.length - shown.length)}}`);
  }
  out.put(']}\n');
  await out.flush();
}

function rowJson({ keys }: ProfileDiff, { names, base, next, basePercent, nextPercent, change, noise }: DiffRow): string {
  return jsonObject([
    ...keys.map((key, column) => jsonField(key, names[column])),
    ...(base === undefined ? [] : [`"base":${sumsJson(base, basePercent)}`]),
    ...(next === undefined ? [] : [`"new":${sumsJson(next, nextPercent)}`]),
    jsonField('change', change),
    ...(noise === undefined ? [] : [jsonField('noise', noise)]),
  ]);
}

function sumsJson(sums: Sums, percent: number): string {
  return jsonObject(sumsFields(sums, percent));
}
