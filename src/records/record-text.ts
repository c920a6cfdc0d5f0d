import { hexOf } from '../base/bytes/byte-view.ts';
import { printable } from '../base/text/printable.ts';
import { showRawBytes } from '../base/text/text.ts';
import type { PerfRecord } from '../perfdata/records/perf-record.ts';

/** Fields that are addresses or bit masks: they are shown in hex, all other numbers in decimal. */
const HEX_FIELDS: ReadonlySet<string> = new Set(
  [
    'addr len pgoff ip ips sps callchain from to regs physAddr errorAddr minVaddr stackStart stackEnd auxOffset reference cookie',
    'misc flags prot dataSrc transaction hwId hwIdx priv regsMask timeMask',
    'config config1 config2 config3 config4 sampleType readFormat branchSampleType sampleRegsUser sampleRegsIntr unnamedFlags unnamedAuxActions',
  ].flatMap((names) => names.split(' ')),
);

/** If there are more bytes than this, a line shows only the first ones and their number. */
const SHOWN_BYTES = 32;

/**
 * A record as one human-readable line: where it is, its type, then its fields as `name=value`. Text with anything unusual in it is quoted; long runs of bytes
 * are cut short.
 */
export function recordText(record: PerfRecord): string {
  const { type, offset, size, misc, ...fields } = record;
  return printable(`0x${offset.toString(16)} ${type} size=${size} misc=0x${misc.toString(16)}${fieldsText(fields)}`);
}

/**
 * A record as one JSON object. 64-bit numbers are strings, in decimal or, if they are addresses or bit masks, in hex with 0x: JavaScript's `BigInt` and
 * Python's `int(…, 0)` read both. Bytes are strings of hex digits.
 */
export function recordJson(record: PerfRecord): string {
  return JSON.stringify(jsonValue('', record));
}

function fieldsText(fields: object): string {
  let text = '';
  for (const [name, value] of Object.entries(fields)) text += ` ${name}=${valueText(name, value)}`;
  return text;
}

function valueText(name: string, value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return numberText(name, value);
  if (typeof value === 'string') return /^[^\s"=[\]{}]+$/.test(value) ? value : JSON.stringify(showRawBytes(value));
  if (value instanceof Uint8Array) {
    return value.length <= SHOWN_BYTES ? hexOf(value) : `${hexOf(value.subarray(0, SHOWN_BYTES))}…(${value.length} bytes)`;
  }
  const items = itemsOf(value);
  if (items !== undefined) return `[${items.map((item) => valueText(name, item)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  return name === 'event' && 'name' in value ? valueText('name', value.name) : `{${fieldsText(value).trimStart()}}`;
}

function jsonValue(name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return numberText(name, value);
  if (value instanceof Uint8Array) return hexOf(value);
  const items = itemsOf(value);
  if (items !== undefined) return items.map((item) => jsonValue(name, item));
  if (typeof value === 'string') return showRawBytes(value);
  if (typeof value !== 'object' || value === null) return value;
  // The event's attr is the same in all its samples.
  const fields = Object.entries(value).filter(([field]) => name !== 'event' || field !== 'attr');
  return Object.fromEntries(fields.map(([field, one]) => [field, jsonValue(field, one)]));
}

function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  return value instanceof Set ? [...value] : undefined;
}

function numberText(name: string, value: number | bigint): string {
  return HEX_FIELDS.has(name) && value >= 0 ? `0x${value.toString(16)}` : String(value);
}
