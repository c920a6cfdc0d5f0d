import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

/** A published schema, and the same one closed: the published one allows new fields, here each one has to be described. */
export function publishedSchema(name: string) {
  const schema = JSON.parse(readFileSync(fileURLToPath(new URL(`../../../schema/${name}.schema.json`, import.meta.url)), 'utf8'));
  const compile = (source: object) => new Ajv2020({ allErrors: true, strict: true }).compile(source);
  const isValid = compile(schema);
  const isDescribed = compile({ ...(closed(schema) as object), $id: `urn:perfconv:${name}:closed` });
  const expectDescribed = (value: unknown): void => {
    isDescribed(value);
    expect(isDescribed.errors ?? []).toEqual([]);
    expect(isValid(value)).toBe(true);
  };
  return { schema, isValid, isDescribed, expectDescribed };
}

function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
  return 'properties' in copy && 'type' in copy ? { additionalProperties: false, ...copy } : copy;
}

/** The names of all fields below a schema. */
export function fieldNames(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const own = 'properties' in node ? Object.keys(node.properties as object) : [];
  return [...own, ...Object.values(node).flatMap(fieldNames)];
}

/** The names of all fields in a value. */
export function keysOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(keysOf)];
}
