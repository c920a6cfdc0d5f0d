import { PerfconvError } from '../../base/problems/errors.ts';
import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { WebCompressor } from '../../base/streams/web-compressor.ts';
import { printable } from '../../base/text/printable.ts';
import type { FunctionTable } from '../../profile/function-table.ts';
import { NAMELESS } from '../../profile/names.ts';
import type { Profile } from '../../profile/profile.ts';
import type { Weight } from '../../profile/weight.ts';
import { JsonWriter } from '../json-text.ts';
import { findMostSampledEvent } from '../primary-event.ts';
import { wholeNumber } from '../whole-number.ts';
import { Base64Sink } from './base64-sink.ts';
import { AFTER_DATA, BEFORE_DATA, BEFORE_TITLE } from './page.ts';
import type { PageEvent, PageHead, PageProcess, PageThread } from './page-data.ts';
import { PageTree } from './page-tree.ts';
import { PageTotalTable } from './totals.ts';

export interface HtmlOptions {
  /** What the page shows first: periods (the default) or samples. */
  readonly weight?: Weight;
  /** Whether the page first shows merged recordings apart. Default: no, equal stacks of all recordings are added up. */
  readonly byInput?: boolean;
  /** The profile's functions under shorter names, for boxes and tables. Default: those of the profile. */
  readonly shownFunctions?: FunctionTable;
  /** Name and version of the program: `perfconv@1.0.0`. */
  readonly exporter: string;
}

const COMMA = ','.charCodeAt(0);

/**
 * Writes a page that shows the profile by itself: a flame graph, a table of functions, their callers and callees. It is one file without references to others,
 * and its Content-Security-Policy allows nothing but its own script and style.
 *
 * It holds all events, threads and stacks, as page-data.ts declares: JSON, compressed (deflate), in base64. No text of the recording is markup: apart from the
 * title, which is escaped, all of them are in there.
 *
 * @throws PerfconvError `no-samples` when the profile has none; `unsupported` in an engine without CompressionStream; whatever the sink throws
 */
export async function writeHtml(profile: Profile, sink: ByteSink, options: HtmlOptions): Promise<void> {
  const event = findMostSampledEvent(profile);
  if (event < 0) throw new PerfconvError('no-samples', 'no samples to write to a page');
  const encoder = new TextEncoder();
  await sink.write(encoder.encode(`${BEFORE_TITLE}${escapedHtml(printable(profile.meta.inputName))}${BEFORE_DATA}`));
  const base64 = new Base64Sink(sink);
  const compressor = new WebCompressor(base64, 'deflate-raw');
  try {
    await writeData(profile, event, compressor, options);
    await compressor.end();
  } catch (error) {
    await compressor.destroy();
    throw error;
  }
  await base64.end();
  await sink.write(encoder.encode(AFTER_DATA));
}

async function writeData(profile: Profile, event: number, sink: ByteSink, options: HtmlOptions): Promise<void> {
  const tree = new PageTree(profile, options.shownFunctions ?? profile.functions);
  const totals = new PageTotalTable(profile, tree);
  const out = new JsonWriter(sink);
  // All but the columns.
  out.put(JSON.stringify(headOf(profile, event, options)).slice(0, -1));
  await writeStrings(out, tree);
  const { functions } = tree;
  out.put(',\n"functions":{');
  for (const [nth, column] of (['name', 'fullName', 'file', 'binary', 'line', 'kind'] as const).entries()) {
    out.put(`${nth === 0 ? '' : ','}"${column}":`);
    await writeColumn(out, functions.length, (index) => functions[index][column]);
  }
  out.put('},\n"nodes":{"caller":');
  await writeColumn(out, tree.size, (node) => (tree.caller(node) < 0 ? 0 : node - tree.caller(node)));
  out.put(',"code":');
  await writeColumn(out, tree.size, (node) => tree.code(node));
  out.put('},\n"totals":[');
  for (const [nth, { event, thread, rows }] of totals.groups().entries()) {
    out.put(`${nth === 0 ? '' : ','}\n{"event":${event},"thread":${thread},"node":`);
    await writeColumn(out, rows.length, (at) => totals.node(rows[at]) - (at === 0 ? 0 : totals.node(rows[at - 1])));
    out.put(',"samples":');
    await writeColumn(out, rows.length, (at) => totals.samples(rows[at]));
    out.put(',"period":');
    await writePeriods(out, totals, rows);
    out.put('}');
  }
  out.put(']}\n');
  await out.flush();
}

function headOf(profile: Profile, event: number, { weight = 'period', byInput = false, exporter }: HtmlOptions): PageHead {
  const { events, inputs, meta, processes, threads } = profile;
  return {
    name: printable(meta.inputName),
    command: printable(meta.commandLine.join(' ')),
    filter: printable(meta.filter ?? ''),
    durationNs: meta.durationNs,
    exporter,
    event,
    weight,
    byInput,
    inputs: inputs?.map(({ label }) => printable(label)) ?? [],
    events: events.map(({ name, unit, samples, period }): PageEvent => ({ name: printable(name), unit, samples, period })),
    processes: processes.map(({ name, pid, input = -1 }): PageProcess => ({ name: nameText(name), pid, input })),
    threads: threads.map(({ name, process, tid }): PageThread => ({ name: nameText(name), tid, process })),
  };
}

function nameText(name: string): string {
  return printable(name) || NAMELESS;
}

async function writeStrings(out: JsonWriter, { strings }: PageTree): Promise<void> {
  out.put(',\n"strings":[');
  for (let index = 0; index < strings.size; index++) {
    if (index > 0) out.char(COMMA);
    out.quoted(printable(strings.get(index)));
    if (out.isFull) await out.flush();
  }
  out.put(']');
}

async function writeColumn(out: JsonWriter, count: number, at: (index: number) => number): Promise<void> {
  out.put('[');
  for (let index = 0; index < count; index++) {
    // hot
    if (index > 0) out.char(COMMA);
    out.number(at(index));
    if (out.isFull) await out.flush();
  }
  out.put(']');
}

/** Periods beyond 2^53 have all their digits, even though the page rounds them. */
async function writePeriods(out: JsonWriter, totals: PageTotalTable, rows: readonly number[]): Promise<void> {
  out.put('[');
  for (const [at, row] of rows.entries()) {
    if (at > 0) out.char(COMMA);
    out.put(wholeNumber(totals.period(row), totals.periodRemainder(row)));
    if (out.isFull) await out.flush();
  }
  out.put(']');
}

function escapedHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
