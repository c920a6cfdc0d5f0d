import { BufferSink, type ByteSink } from '../../base/streams/byte-sink.ts';
import { TextWriter } from '../../base/streams/text-writer.ts';
import type { Profile } from '../../profile/profile.ts';
import { JsonWriter } from '../json-text.ts';
import { percentOf } from '../percent.ts';
import { eventJson, inputsJson, jsonField, jsonObject, putJsonLines, selfSumsFields, sumsFields } from '../tables/json.ts';
import { putCodeBlock } from '../tables/markdown.ts';
import type { ReportLayout } from './report.ts';
import { REPORT_SCHEMA_VERSION } from './schema-version.ts';
import type { OmittedCalls, TreeRow } from './shown-calls.ts';
import { type EventTree, ReportTree, type TreeOptions } from './tree.ts';
import { type TreeTextOptions, writeTreeText } from './tree-text.ts';

export interface WriteTreeOptions extends TreeOptions, TreeTextOptions {
  /** How it is written: as text, as JSON for programs, or as a code block in Markdown. Default: text. */
  readonly layout?: ReportLayout;
}

/**
 * Writes the calls of each event as a tree.
 * @throws PerfconvError `no-samples` for a profile without any
 */
export async function writeTree(profile: Profile, sink: ByteSink, options: WriteTreeOptions = {}): Promise<void> {
  const report = new ReportTree(profile, options);
  if (options.layout === 'json') return writeTreeJson(profile, report, new JsonWriter(sink));
  if (options.layout !== 'markdown') return writeTexts(profile, report, sink, options);
  // A block's fence depends on what is in it.
  const text = new BufferSink();
  await writeTexts(profile, report, text, {});
  const out = new TextWriter(sink);
  putCodeBlock(text.text(), out);
  await out.flush();
}

async function writeTexts(profile: Profile, report: ReportTree, sink: ByteSink, options: TreeTextOptions): Promise<void> {
  const out = new TextWriter(sink);
  let isFirst = true;
  for (const tree of report.trees()) {
    if (!isFirst) out.put('\n');
    isFirst = false;
    await writeTreeText(profile, report, tree, out, options);
  }
  await out.flush();
}

/** Writes the trees as one JSON document: schema/report.schema.json. Calls are a flat list, since readers of JSON limit how deep it may nest. */
async function writeTreeJson(profile: Profile, report: ReportTree, out: JsonWriter): Promise<void> {
  const { levels, weighsBy, percentLimit } = report;
  const head = [jsonField('schemaVersion', REPORT_SCHEMA_VERSION), jsonField('kind', 'trees'), `"inputs":${inputsJson(profile)}`];
  const choices = [`"sort":${JSON.stringify([...levels, 'function', 'dso'])}`, jsonField('weight', weighsBy), jsonField('percentLimit', percentLimit)];
  out.put(`{${[...head, ...choices].join(',\n')},\n"trees":[`);
  let separator = '\n';
  for (const tree of report.trees()) {
    out.put(`${separator}{"event":${eventJson(profile.events[tree.event])},\n"calls":[`);
    separator = ',\n';
    await putJsonLines(out, tree.rows, (row) => callJson(report, tree, row));
    out.put(`]${tree.omitted === undefined ? '' : `,\n${omittedJson(report, tree, tree.omitted)}`}}`);
  }
  out.put(']}\n');
  await out.flush();
}

function callJson(report: ReportTree, tree: EventTree, { parent, depth, label, total, self, omitted }: TreeRow): string {
  const { level, name, dso, isInlined } = label;
  return jsonObject([
    jsonField('parent', parent),
    jsonField('depth', depth),
    ...(level === undefined ? [jsonField('function', name), jsonField('dso', dso)] : [jsonField(level, name)]),
    ...(isInlined ? [jsonField('inlined', true)] : []),
    ...sumsFields(total, percentOf(report.weight(total), tree.sum)),
    ...selfSumsFields(self, percentOf(report.weight(self), tree.sum)),
    ...(omitted === undefined ? [] : [omittedJson(report, tree, omitted)]),
  ]);
}

function omittedJson(report: ReportTree, tree: EventTree, omitted: OmittedCalls): string {
  return `"omitted":${jsonObject([jsonField('calls', omitted.calls), ...sumsFields(omitted, percentOf(report.weight(omitted), tree.sum))])}`;
}
