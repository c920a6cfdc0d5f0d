import { expect } from 'vitest';
import { type AnyValue, type Dictionary, decodeOtlp, type Profile, type ValueType } from './decode-otlp.ts';
import type { ReadFrame } from './read-pprof.ts';

export type Attributes = ReadonlyMap<string, string | bigint | boolean | readonly string[]>;

export interface ReadOtlpLocation {
  /** Empty for none. */
  readonly mapping: string;
  readonly address: bigint;
  /** Leaf first. */
  readonly frames: readonly ReadFrame[];
  /** Empty for none. */
  readonly frameType: string;
}

export interface ReadOtlpSample {
  /** Leaf first. */
  readonly locations: readonly ReadOtlpLocation[];
  readonly value: bigint;
  readonly attributes: Attributes;
}

export interface ReadOtlpProfile {
  readonly type: string;
  readonly periodType: string;
  readonly period: bigint;
  readonly timeNs: bigint;
  readonly durationNs: bigint;
  readonly attributes: Attributes;
  readonly samples: readonly ReadOtlpSample[];
}

/** ProfilesData with its indexes resolved. */
export interface ReadOtlp {
  readonly resource: Attributes;
  readonly scope: string;
  readonly profiles: readonly ReadOtlpProfile[];
  readonly mappings: readonly {
    readonly name: string;
    readonly start: bigint;
    readonly limit: bigint;
    readonly offset: bigint;
    readonly attributes: Attributes;
  }[];
  readonly strings: readonly string[];
}

/**
 * Decodes profiles, expects what the specification asks for (all references are valid; rows of the dictionary are unique and referred to, apart from row 0, which
 * is empty; Samples of a profile differ in their stack or attributes, and all have the same shape), and resolves the references.
 */
export function readOtlp(bytes: Uint8Array): ReadOtlp {
  const data = decodeOtlp(bytes);
  expect(data.resourceProfiles).toHaveLength(1);
  const [{ resource, scopeProfiles }] = data.resourceProfiles;
  expect(scopeProfiles).toHaveLength(1);
  const [{ scope, profiles }] = scopeProfiles;
  const { dictionary } = data;
  expectSoundDictionary(dictionary, profiles);

  const text = (index: number): string => dictionary.stringTable[index];
  const valueType = ({ typeStrindex, unitStrindex }: ValueType): string => `${text(typeStrindex)}/${text(unitStrindex)}`;
  const attributesOf = (indexes: readonly number[]): Attributes =>
    new Map(indexes.map((index) => dictionary.attributeTable[index]).map(({ keyStrindex, value }) => [text(keyStrindex), plain(value!)]));
  const locations = dictionary.locationTable.map(
    ({ mappingIndex, address, lines, attributeIndices }): ReadOtlpLocation => ({
      mapping: text(dictionary.mappingTable[mappingIndex].filenameStrindex),
      address: BigInt(address),
      frames: lines.map(({ functionIndex, line, column }) => {
        const { nameStrindex, systemNameStrindex, filenameStrindex, startLine } = dictionary.functionTable[functionIndex];
        return `${text(nameStrindex)}|${text(systemNameStrindex)}|${text(filenameStrindex)}:${startLine}|${line}:${column}`;
      }),
      frameType: String(attributesOf(attributeIndices).get('profile.frame.type') ?? ''),
    }),
  );
  return {
    resource: new Map(resource.attributes.map(({ key, value }) => [key, plain(value)])),
    scope: `${scope.name} ${scope.version}`.trim(),
    profiles: profiles.map((profile) => ({
      type: valueType(profile.sampleType),
      periodType: valueType(profile.periodType),
      period: BigInt(profile.period),
      timeNs: BigInt(profile.timeUnixNano),
      durationNs: BigInt(profile.durationNano),
      attributes: attributesOf(profile.attributeIndices),
      samples: profile.samples.map(({ stackIndex, attributeIndices, values: [value] }) => ({
        locations: dictionary.stackTable[stackIndex].locationIndices.map((index) => locations[index]),
        value: BigInt(value),
        attributes: attributesOf(attributeIndices),
      })),
    })),
    mappings: dictionary.mappingTable.slice(1).map(({ filenameStrindex, memoryStart, memoryLimit, fileOffset, attributeIndices }) => ({
      name: text(filenameStrindex),
      start: BigInt(memoryStart),
      limit: BigInt(memoryLimit),
      offset: BigInt(fileOffset),
      attributes: attributesOf(attributeIndices),
    })),
    strings: dictionary.stringTable,
  };
}

function plain({ stringValue, boolValue, intValue, arrayValue }: AnyValue): string | bigint | boolean | readonly string[] {
  if (arrayValue !== undefined) return arrayValue.values.map(({ stringValue: text = '' }) => text);
  const [value, ...others] = [stringValue, boolValue, intValue === undefined ? undefined : BigInt(intValue)].filter((field) => field !== undefined);
  expect([value === undefined, others]).toEqual([false, []]);
  return value;
}

/** What profiles.proto asks of dictionaries and Samples. */
function expectSoundDictionary(dictionary: Dictionary, profiles: readonly Profile[]): void {
  const { mappingTable, locationTable, functionTable, linkTable, stringTable, attributeTable, stackTable } = dictionary;
  expect(mappingTable[0]).toEqual({ memoryStart: '0', memoryLimit: '0', fileOffset: '0', filenameStrindex: 0, attributeIndices: [] });
  expect(locationTable[0]).toEqual({ mappingIndex: 0, address: '0', lines: [], attributeIndices: [] });
  expect(functionTable[0]).toEqual({ nameStrindex: 0, systemNameStrindex: 0, filenameStrindex: 0, startLine: '0' });
  expect(linkTable.map(({ traceId, spanId }) => [atob(traceId), atob(spanId)])).toEqual([['\0'.repeat(16), '\0'.repeat(8)]]);
  expect(stringTable[0]).toBe('');
  expect(attributeTable[0]).toEqual({ keyStrindex: 0, value: null, unitStrindex: 0 });
  expect(stackTable[0]).toEqual({ locationIndices: [] });
  for (const table of [mappingTable, locationTable, functionTable, stringTable, attributeTable, stackTable]) {
    expect(new Set(table.map((row) => JSON.stringify(row))).size).toBe(table.length);
  }

  const lists = [...profiles, ...profiles.flatMap(({ samples }) => samples), ...mappingTable, ...locationTable].map((row) => row.attributeIndices);
  expectReferred(attributeTable, lists.flat());
  for (const list of lists) {
    const keys = list.map((index) => attributeTable[index].keyStrindex);
    expect([new Set(keys).size, list.includes(0)]).toEqual([keys.length, false]);
  }
  expectReferred(
    mappingTable,
    locationTable.map(({ mappingIndex }) => mappingIndex),
  );
  const lines = locationTable.flatMap((location) => location.lines);
  expectReferred(
    functionTable,
    lines.map(({ functionIndex }) => functionIndex),
  );
  expect(lines.some(({ functionIndex }) => functionIndex === 0)).toBe(false);
  const inStacks = stackTable.flatMap(({ locationIndices }) => locationIndices);
  expectReferred(locationTable, inStacks);
  expect(inStacks.includes(0)).toBe(false);
  expectReferred(
    stackTable,
    profiles.flatMap(({ samples }) => samples.map(({ stackIndex }) => stackIndex)),
  );
  expectReferred(stringTable, [
    ...profiles.flatMap(({ sampleType, periodType }) => [sampleType, periodType].flatMap((type) => [type.typeStrindex, type.unitStrindex])),
    ...mappingTable.map(({ filenameStrindex }) => filenameStrindex),
    ...functionTable.flatMap((row) => [row.nameStrindex, row.systemNameStrindex, row.filenameStrindex]),
    ...attributeTable.flatMap((row) => [row.keyStrindex, row.unitStrindex]),
  ]);
  // At least one of a function's names must be there.
  expect(functionTable.slice(1).every((row) => row.nameStrindex > 0)).toBe(true);
  for (const { samples, profileId } of profiles) {
    expect(profileId).toBe('');
    expect(samples.every(({ values, timestampsUnixNano, linkIndex }) => values.length === 1 && timestampsUnixNano.length === 0 && linkIndex === 0)).toBe(true);
    const identities = samples.map(({ stackIndex, attributeIndices }) => `${stackIndex} ${[...attributeIndices].sort((a, b) => a - b)}`);
    expect(new Set(identities).size).toBe(identities.length);
  }
}

/** Expects that indexes refer to all rows of a table but the first, and to nothing else. */
function expectReferred(table: readonly unknown[], indexes: readonly number[]): void {
  expect([...new Set([0, ...indexes])].sort((a, b) => a - b)).toEqual([...table.keys()]);
}
