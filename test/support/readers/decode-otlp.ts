import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

/** Decoded by protobufjs from the definitions in proto/, which knows nothing about the writer. */
const root = new protobuf.Root();
root.resolvePath = (_, target) => join(protoFolder(), target);
root.loadSync('opentelemetry/proto/profiles/v1development/profiles.proto');
const schema = root.lookupType('opentelemetry.proto.profiles.v1development.ProfilesData');

/** A message as protobufjs gives it: 64-bit numbers as decimal text, bytes as hex, fields that are not set with their default value. */
export interface ValueType {
  readonly typeStrindex: number;
  readonly unitStrindex: number;
}
export interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly arrayValue?: { readonly values: readonly AnyValue[] };
}
interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}
interface Mapping {
  readonly memoryStart: string;
  readonly memoryLimit: string;
  readonly fileOffset: string;
  readonly filenameStrindex: number;
  readonly attributeIndices: readonly number[];
}
interface Location {
  readonly mappingIndex: number;
  readonly address: string;
  readonly lines: readonly { readonly functionIndex: number; readonly line: string; readonly column: string }[];
  readonly attributeIndices: readonly number[];
}
interface OtlpFunction {
  readonly nameStrindex: number;
  readonly systemNameStrindex: number;
  readonly filenameStrindex: number;
  readonly startLine: string;
}
export interface Dictionary {
  readonly mappingTable: readonly Mapping[];
  readonly locationTable: readonly Location[];
  readonly functionTable: readonly OtlpFunction[];
  readonly linkTable: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly stringTable: readonly string[];
  readonly attributeTable: readonly { readonly keyStrindex: number; readonly unitStrindex: number; readonly value: AnyValue | null }[];
  readonly stackTable: readonly { readonly locationIndices: readonly number[] }[];
}
export interface Profile {
  readonly sampleType: ValueType;
  readonly samples: readonly {
    readonly stackIndex: number;
    readonly attributeIndices: readonly number[];
    readonly linkIndex: number;
    readonly values: readonly string[];
    readonly timestampsUnixNano: readonly string[];
  }[];
  readonly timeUnixNano: string;
  readonly durationNano: string;
  readonly periodType: ValueType;
  readonly period: string;
  readonly profileId: string;
  readonly attributeIndices: readonly number[];
}
interface ProfilesData {
  readonly resourceProfiles: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeProfiles: readonly { readonly scope: { readonly name: string; readonly version: string }; readonly profiles: readonly Profile[] }[];
    readonly schemaUrl: string;
  }[];
  readonly dictionary: Dictionary;
}

export function decodeOtlp(bytes: Uint8Array): ProfilesData {
  return schema.toObject(schema.decode(bytes), {
    longs: String,
    defaults: true,
    arrays: true,
    // Of the fields of an AnyValue, those that are not set are left out: they are a oneof.
    oneofs: true,
    bytes: String,
  }) as ProfilesData;
}

/** The folder proto/ of the project, which is further up than usual if this file was compiled for the fuzzer. */
function protoFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'proto/opentelemetry'))) folder = dirname(folder);
  return join(folder, 'proto');
}
