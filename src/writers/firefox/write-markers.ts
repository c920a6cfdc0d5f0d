import type { Profile } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import { type JsonWriter, quotedJson } from '../json-text.ts';
import { waitOf } from '../primary-event.ts';
import { CATEGORY_KERNEL, CATEGORY_OTHER } from './categories.ts';
import { putDecimal, writeColumn } from './json-columns.ts';
import { EXECED, LOST, type MarkerList, OFF_CPU, PREEMPTED, RENAMED, TRACEPOINT, WAIT } from './marker-list.ts';
import type { SharedTables } from './shared-tables.ts';

/** Marker phases. Source: Firefox Profiler, src/types/gecko-profile.ts. */
const INSTANT = 0;
const INTERVAL = 1;
const MICROSECOND = 1000;

const SHOWN = { display: ['marker-chart', 'marker-table'] };

/** `meta.markerSchema`: how the viewer shows the markers. */
export const MARKER_SCHEMA: readonly object[] = [
  {
    name: 'OffCpu',
    tooltipLabel: 'Off CPU: {marker.data.reason}',
    tableLabel: '{marker.data.reason}',
    chartLabel: '{marker.data.reason}',
    ...SHOWN,
    fields: [{ key: 'reason', label: 'Reason', format: 'string' }],
    description: 'The thread was switched out: it was preempted if it could have gone on, and otherwise waited for something.',
  },
  {
    name: 'Comm',
    tooltipLabel: '{marker.name}: {marker.data.comm}',
    tableLabel: '{marker.data.comm}',
    chartLabel: '{marker.data.comm}',
    ...SHOWN,
    fields: [{ key: 'comm', label: 'New name', format: 'unique-string' }],
    description: 'The thread was renamed, or started another program.',
  },
  {
    name: 'Lost',
    tooltipLabel: 'Lost records: {marker.data.count}',
    tableLabel: '{marker.data.count}',
    ...SHOWN,
    fields: [{ key: 'count', label: 'Records', format: 'integer' }],
    description: 'perf could not keep up while recording, and records were lost on the CPU that the thread ran on.',
  },
  {
    name: 'Tracepoint',
    tooltipLabel: '{marker.name}',
    tableLabel: '{marker.data.text}',
    chartLabel: '{marker.data.text}',
    ...SHOWN,
    fields: [{ key: 'text', label: 'Text', format: 'string' }],
    description: 'A tracepoint, with its text as the kernel describes it.',
  },
];

/** Writes the markers of threads. Must be constructed before the strings are written, since it adds to them. */
export class MarkerWriter {
  readonly #profile: Profile;
  readonly #samples: SampleTable;
  readonly #tables: SharedTables;
  readonly #list: MarkerList;
  /** Texts of the names, by kind; those of tracepoints by event. */
  readonly #names: readonly number[];
  readonly #eventNames: readonly number[];

  constructor(profile: Profile, samples: SampleTable, tables: SharedTables, list: MarkerList) {
    const { texts } = tables;
    this.#profile = profile;
    this.#samples = samples;
    this.#tables = tables;
    this.#list = list;
    const names: string[] = [];
    names[OFF_CPU] = 'off CPU';
    names[RENAMED] = 'comm';
    names[EXECED] = 'exec';
    names[LOST] = 'lost';
    names[WAIT] = names[OFF_CPU];
    this.#names = names.map((name) => texts.literal(name));
    this.#eventNames = profile.events.map(({ name, showPayload }) => (showPayload === undefined ? -1 : texts.literal(name)));
    for (let marker = 0; marker < list.size; marker++) if (isComm(list.kind[marker])) texts.ofString(list.value[marker]);
  }

  /** Writes the marker table of a track, as an object. */
  async write(out: JsonWriter, track: number): Promise<void> {
    const list = this.#list;
    const markers = list.of(track);
    const { length } = markers;
    out.put(`{"length":${length}`);
    await writeColumn(out, 'data', length, (at) => out.put(this.#data(markers[at])));
    await writeColumn(out, 'name', length, (at) => out.number(this.#name(markers[at])));
    await writeColumn(out, 'startTime', length, (at) => putMilliseconds(out, list.startNs[markers[at]]));
    await writeColumn(out, 'endTime', length, (at) => putMilliseconds(out, list.endNs[markers[at]]));
    await writeColumn(out, 'phase', length, (at) => out.number(list.endNs[markers[at]] < 0 ? INSTANT : INTERVAL));
    await writeColumn(out, 'category', length, (at) => out.number(isComm(list.kind[markers[at]]) ? CATEGORY_OTHER : CATEGORY_KERNEL));
    out.put('}');
  }

  #name(marker: number): number {
    const { kind, value } = this.#list;
    return kind[marker] === TRACEPOINT ? this.#eventNames[this.#samples.event[value[marker]]] : this.#names[kind[marker]];
  }

  #data(marker: number): string {
    const { kind, value } = this.#list;
    switch (kind[marker]) {
      case OFF_CPU:
        return value[marker] === PREEMPTED ? '{"type":"OffCpu","reason":"preempted"}' : '{"type":"OffCpu","reason":"waiting"}';
      case WAIT:
        return this.#wait(value[marker]);
      case LOST:
        return `{"type":"Lost","count":${value[marker]}}`;
      case TRACEPOINT:
        return this.#tracepoint(value[marker]);
      default:
        return `{"type":"Comm","comm":${this.#tables.texts.ofString(value[marker])}}`;
    }
  }

  #wait(row: number): string {
    const reason = waitOf(this.#profile.events[this.#samples.event[row]]) ?? 'waiting';
    return `{"type":"OffCpu","reason":${quotedJson(reason)}${this.#causeOf(row)}}`;
  }

  /** The stack of a sample. */
  #causeOf(row: number): string {
    const stack = this.#samples.stack[row];
    return stack < 0 ? '' : `,"cause":{"stack":${this.#tables.rowOf(stack)}}`;
  }

  #tracepoint(row: number): string {
    const { detail, details, event } = this.#samples;
    const { showPayload } = this.#profile.events[event[row]];
    const text = details === undefined || showPayload === undefined ? '' : showPayload(details.raw(detail[row]));
    return `{"type":"Tracepoint","text":${quotedJson(text)}${this.#causeOf(row)}}`;
  }
}

function isComm(kind: number): boolean {
  return kind === RENAMED || kind === EXECED;
}

/** Writes a time, to the microsecond; `null` for none. */
function putMilliseconds(out: JsonWriter, timeNs: number): void {
  if (timeNs < 0) out.put('null');
  else putDecimal(out, Math.round(timeNs / MICROSECOND), 3);
}
