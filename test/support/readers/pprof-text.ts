import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

const schema = protobuf.loadSync(fileURLToPath(new URL('../../../proto/profile.proto', import.meta.url))).lookupType('perftools.profiles.Profile');

/** A message of profile.proto as protobufjs gives it: 64-bit numbers as decimal text, indexes into the string table as text. */
interface Message {
  readonly [field: string]: string | number | boolean | readonly Message[];
}

interface ProfileMessage {
  readonly sampleType: readonly Message[];
  readonly sample: readonly { readonly locationId: readonly string[]; readonly value: readonly string[]; readonly label: readonly Message[] }[];
  readonly mapping: readonly Message[];
  readonly location: readonly { readonly id: string; readonly mappingId: string; readonly address: string; readonly line: readonly Message[] }[];
  readonly function: readonly Message[];
  readonly stringTable: readonly string[];
  readonly timeNanos: string;
  readonly durationNanos: string;
  readonly periodType: Message | null;
  readonly period: string;
  readonly comment: readonly string[];
  readonly defaultSampleType: string;
}

/**
 * An uncompressed pprof profile as text that people can read and compare: everything in it, in its order, with its
 * strings and functions in place of their indexes. Samples and locations are told apart by id, as in `pprof -raw`.
 * Decoded by protobufjs, which knows nothing about the writer.
 */
export function pprofText(bytes: Uint8Array): string {
  const profile = schema.toObject(schema.decode(bytes), { longs: String, defaults: true, arrays: true }) as ProfileMessage;
  const text = (index: unknown): string => JSON.stringify(profile.stringTable[Number(index)]);
  const valueType = (type: Message | null): string => (type === null ? 'none' : `${text(type.type)} ${text(type.unit)}`);
  const functions = new Map(profile.function.map((row) => [row.id, row]));

  const lineText = (line: Message): string => {
    const { name, systemName, filename, startLine } = functions.get(String(line.functionId)) ?? {};
    return `${text(name)} system_name ${text(systemName)} ${text(filename)}:${line.line}:${line.column} start ${startLine}`;
  };
  const labelText = ({ key, str, num, numUnit }: Message): string => `${text(key)}:${str === '0' ? `${num} ${text(numUnit)}` : text(str)}`;

  return [
    ...profile.sampleType.map((type) => `sample_type ${valueType(type)}`),
    `default_sample_type ${text(profile.defaultSampleType)}`,
    `period_type ${valueType(profile.periodType)} period ${profile.period}`,
    `time_nanos ${profile.timeNanos} duration_nanos ${profile.durationNanos}`,
    ...profile.comment.map((comment) => `comment ${text(comment)}`),
    ...profile.mapping.map(mappingText),
    ...profile.location.flatMap((row) => [`location ${row.id} mapping ${row.mappingId} ${hex(row.address)}`, ...row.line.map((line) => `  ${lineText(line)}`)]),
    ...profile.sample.map(({ value, locationId, label }) => `sample ${value.join(' ')}: ${locationId.join(' ')}; ${label.map(labelText).join(' ')}`),
    '',
  ].join('\n');

  function mappingText(row: Message): string {
    const { id, memoryStart, memoryLimit, fileOffset, filename, buildId } = row;
    const has = ['hasFunctions', 'hasFilenames', 'hasLineNumbers', 'hasInlineFrames'].filter((flag) => row[flag] === true);
    return [`mapping ${id} ${hex(memoryStart)}-${hex(memoryLimit)} offset ${hex(fileOffset)} ${text(filename)} build_id ${text(buildId)}`, ...has].join(' ');
  }
}

function hex(value: unknown): string {
  return `0x${BigInt(String(value)).toString(16)}`;
}
