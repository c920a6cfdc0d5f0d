import { hexOf } from '../base/byte-view.ts';
import { printable } from '../base/printable.ts';
import { showRawBytes } from '../base/text.ts';
import type { PerfRecord } from '../perfdata/records/perf-record.ts';

/** Fields that are addresses, or words of bits: they are shown in hex, all other numbers in decimal. */
const HEX_FIELDS: ReadonlySet<string> = new Set(
  [
    'addr len pgoff ip ips sps callchain from to regs physAddr errorAddr minVaddr stackStart stackEnd auxOffset reference cookie',
    'misc flags prot dataSrc transaction hwId hwIdx priv regsMask timeMask',
    'config config1 config2 config3 config4 sampleType readFormat branchSampleType sampleRegsUser sampleRegsIntr',
  ].flatMap((names) => names.split(' ')),
);

/** In a line, more bytes than these are shown by their beginning and their number. */
const SHOWN_BYTES = 32;

/**
 * A record as one line for people: where it lies, its type, then its fields as `name=value`. Text that holds anything
 * unusual is quoted; long bytes are cut short.
 */
export function recordText(record: PerfRecord): string {
  const { type, offset, size, misc, ...fields } = record;
  return printable(`0x${offset.toString(16)} ${type} size=${size} misc=0x${misc.toString(16)}${fieldsText(fields)}`);
}

/**
 * A record as one JSON object. Numbers of 64 bits are strings, in decimal or, where they are addresses or bits, in hex with
 * 0x: `BigInt` of JavaScript and `int(…, 0)` of Python read both. Bytes are strings of hex digits.
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
