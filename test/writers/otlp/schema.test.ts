import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import { describe, expect, test } from 'vitest';
import * as fields from '../../../src/writers/otlp/field-numbers.ts';

const root = new protobuf.Root();
root.resolvePath = (_, target) => fileURLToPath(new URL(`../../../proto/${target}`, import.meta.url));
root.loadSync('opentelemetry/proto/profiles/v1development/profiles.proto');

describe('otlp: field-numbers.ts agrees with the definitions in proto/ on the fields of', () => {
  // `PROFILES_DATA` → `ProfilesData`
  const tables = Object.entries(fields).map(
    ([name, numbers]) => [name.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase()), numbers] as const,
  );
  test.each(tables)('%s', (message, numbers) => {
    const known = root.lookupType(message).fields;
    for (const [name, number] of Object.entries(numbers)) expect([name, number]).toEqual([name, known[name]?.id]);
  });
});
