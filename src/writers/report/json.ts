import type { Profile } from '../../profile/profile.ts';
import type { JsonWriter } from '../json-text.ts';
import { percentOf } from '../percent.ts';
import { eventJson, inputsJson, jsonField, jsonObject, putJsonLines, selfSumsFields, sumsFields } from '../tables/json.ts';
import type { ReportRow } from './rows.ts';
import { REPORT_SCHEMA_VERSION } from './schema-version.ts';
import type { ReportTable, ReportTables } from './tables.ts';

/** Writes the tables of a report as one JSON document: schema/report.schema.json. */
export async function writeTablesJson(profile: Profile, report: ReportTables, limit: number, out: JsonWriter): Promise<void> {
  const { keys, children, weighsBy } = report;
  const head = [jsonField('schemaVersion', REPORT_SCHEMA_VERSION), jsonField('kind', 'tables'), `"inputs":${inputsJson(profile)}`];
  out.put(`{${[...head, `"sort":${JSON.stringify(keys)}`, jsonField('children', children), jsonField('weight', weighsBy)].join(',\n')},\n"tables":[`);
  let separator = '\n';
  for (const table of report.tables()) {
    const { events, rows } = table;
    const shown = rows.slice(0, limit);
    out.put(`${separator}{"events":[${events.map((event) => eventJson(profile.events[event])).join(',')}],\n"rows":[`);
    separator = ',\n';
    await putJsonLines(out, shown, (row) => rowJson(report, table, row));
    out.put(`],\n${jsonField('omittedRows', rows.length - shown.length)}}`);
  }
  out.put(']}\n');
  await out.flush();
}

function rowJson(report: ReportTables, { sum }: ReportTable, row: ReportRow): string {
  const { keys, texts, children } = report;
  const cells = keys.map((key, column) => jsonField(key, texts.strings.get(row.texts[column])));
  const all = sumsFields(row, percentOf(report.weight(row), sum));
  if (!children) return jsonObject([...cells, ...all]);
  const { selfSamples, selfPeriod, selfPeriodRemainder } = row;
  const self = { samples: selfSamples, period: selfPeriod, periodRemainder: selfPeriodRemainder };
  return jsonObject([...cells, ...all, ...selfSumsFields(self, percentOf(report.selfWeight(row), sum))]);
}
