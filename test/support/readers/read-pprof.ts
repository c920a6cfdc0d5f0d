import { fileURLToPath } from 'node:url';
import { fromBinary } from '@bufbuild/protobuf';
import protobuf from 'protobufjs';
import { expect } from 'vitest';
import { type Profile as PprofMessage, ProfileSchema } from '../../../src/proto/profile_pb.ts';

const schema = protobuf.loadSync(fileURLToPath(new URL('../../../proto/profile.proto', import.meta.url))).lookupType('perftools.profiles.Profile');

/** A frame as written: `function|system name|file:start line|line:column`. */
export type ReadFrame = string;

export interface ReadLocation {
  readonly mapping: string;
  readonly address: bigint;
  /** Leaf first. */
  readonly frames: readonly ReadFrame[];
}

export interface ReadSample {
  /** Leaf first. */
  readonly locations: readonly ReadLocation[];
  /** By `type/unit`. */
  readonly values: ReadonlyMap<string, bigint>;
  /** Numbers as bigint. */
  readonly labels: ReadonlyMap<string, string | bigint>;
}

/** A pprof profile with its indexes resolved. */
export interface ReadPprof {
  readonly message: PprofMessage;
  readonly types: readonly string[];
  readonly defaultType: string;
  readonly periodType: string;
  readonly comments: readonly string[];
  readonly samples: readonly ReadSample[];
  readonly mappings: readonly { name: string; buildId: string; start: bigint; limit: bigint; offset: bigint; flags: string }[];
}

/**
 * Decodes an uncompressed profile with two decoders, expects them to agree, and expects what profile.proto and
 * perfconv promise about tables (strings, functions, mappings, locations): ids are unique and not 0, every reference is
 * valid, every row is unique and used.
 */
export function readPprof(bytes: Uint8Array): ReadPprof {
  const message = fromBinary(ProfileSchema, bytes);
  expect(message.$unknown).toBeUndefined();
  const independent = schema.toObject(schema.decode(bytes), { longs: String, defaults: true, arrays: true });
  expect(plain(message)).toEqual(independent);
  expectSoundTables(message);

  const text = (index: bigint) => message.stringTable[Number(index)];
  const valueType = (type: PprofMessage['periodType']) => (type === undefined ? '' : `${text(type.type)}/${text(type.unit)}`);
  const functions = new Map(message.function.map((row) => [row.id, row]));
  const mappings = new Map(message.mapping.map((row) => [row.id, row]));
  const locations = new Map(
    message.location.map((row): [bigint, ReadLocation] => [
      row.id,
      {
        mapping: row.mappingId === 0n ? '' : text(mappings.get(row.mappingId)!.filename),
        address: row.address,
        frames: row.line.map((line) => {
          const func = functions.get(line.functionId)!;
          return `${text(func.name)}|${text(func.systemName)}|${text(func.filename)}:${func.startLine}|${line.line}:${line.column}`;
        }),
      },
    ]),
  );
  const types = message.sampleType.map(valueType);
  return {
    message,
    types,
    defaultType: text(message.defaultSampleType),
    periodType: valueType(message.periodType),
    comments: message.comment.map(text),
    samples: message.sample.map((sample) => ({
      locations: sample.locationId.map((id) => locations.get(id)!),
      values: new Map(sample.value.map((value, index) => [types[index], value])),
      labels: new Map(sample.label.map((label) => [text(label.key), label.str === 0n ? label.num : text(label.str)])),
    })),
    mappings: message.mapping.map((row) => ({
      name: text(row.filename),
      buildId: text(row.buildId),
      start: row.memoryStart,
      limit: row.memoryLimit,
      offset: row.fileOffset,
      flags: [row.hasFunctions && 'functions', row.hasFilenames && 'filenames', row.hasLineNumbers && 'lines', row.hasInlineFrames && 'inlines']
        .filter(Boolean)
        .join(),
    })),
  };
}

function expectSoundTables(message: PprofMessage): void {
  const { stringTable, sample, location, mapping } = message;
  expect(stringTable[0]).toBe('');
  expectUnique(stringTable);
  const usedStrings = new Set<bigint>([0n, message.defaultSampleType, ...message.comment]);
  for (const type of [...message.sampleType, message.periodType!]) usedStrings.add(type.type).add(type.unit);
  for (const row of mapping) usedStrings.add(row.filename).add(row.buildId);
  for (const row of message.function) usedStrings.add(row.name).add(row.systemName).add(row.filename);
  for (const { label } of sample) for (const row of label) usedStrings.add(row.key).add(row.str).add(row.numUnit);
  expect(sorted(usedStrings)).toEqual(stringTable.map((_, index) => BigInt(index)));

  for (const table of [location, mapping, message.function]) {
    expect(table.every((row) => row.id !== 0n)).toBe(true);
    expectUnique(table.map((row) => row.id));
    expectUnique(table.map((row) => JSON.stringify(plain({ ...row, id: 0n }))));
  }
  const idsOf = (rows: readonly { id: bigint }[]) => sorted(new Set(rows.map((row) => row.id)));
  expect(sorted(new Set(sample.flatMap((row) => row.locationId)))).toEqual(idsOf(location));
  expect(sorted(new Set(location.flatMap((row) => row.line.map((line) => line.functionId))))).toEqual(idsOf(message.function));
  const usedMappings = new Set(location.map((row) => row.mappingId).filter((id) => id !== 0n));
  // The first mapping, that of the main binary, may be there without a sample in it.
  if (mapping.length > 0) usedMappings.add(mapping[0].id);
  expect(sorted(usedMappings)).toEqual(idsOf(mapping));
  for (const row of sample) expect(row.value).toHaveLength(message.sampleType.length);
}

function expectUnique(items: readonly unknown[]): void {
  expect(new Set(items).size).toBe(items.length);
}

function sorted(items: Iterable<bigint>): bigint[] {
  return [...items].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/** A generated message as protobufjs shows it: 64-bit numbers as text, no type names. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !key.startsWith('$'))
      .map(([key, item]) => [key, plain(item)]),
  );
}
