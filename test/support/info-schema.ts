import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { BufferSource } from '../../src/base/byte-source.ts';
import { Diagnostics } from '../../src/base/diagnostics.ts';
import type { RecordingInfo } from '../../src/info/recording-info.ts';
import { readRecordingInfo } from '../../src/pipeline/read-info.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
export const schema = JSON.parse(readFileSync(join(root, 'schema/info.schema.json'), 'utf8'));

/** The published schema allows new fields; here each one has to be described. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
  return 'properties' in copy && 'type' in copy ? { additionalProperties: false, ...copy } : copy;
}

export const isValid = new Ajv2020({ allErrors: true, strict: true }).compile(schema);
export const isDescribed = new Ajv2020({ allErrors: true, strict: true }).compile({ ...(closed(schema) as object), $id: 'urn:perfconv:info:closed' });

export async function jsonOf(bytes: Uint8Array, anonymous = false): Promise<RecordingInfo> {
  const source = new BufferSource(bytes, '/home/jane/perf.data');
  return JSON.parse(JSON.stringify(await readRecordingInfo(source, { anonymous, modifiedNs: 1_767_545_300_000_000_001n }, new Diagnostics())));
}

export function expectDescribed(info: RecordingInfo): void {
  isDescribed(info);
  expect(isDescribed.errors ?? []).toEqual([]);
  expect(isValid(info)).toBe(true);
}
