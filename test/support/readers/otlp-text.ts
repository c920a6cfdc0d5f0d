import { type Attributes, readOtlp } from './read-otlp.ts';

/**
 * OTLP profiles as text that people can read and compare: everything in them, with strings, functions, locations and attributes in place of their
 * indexes. Attributes are as in JSON.
 */
export function otlpText(bytes: Uint8Array): string {
  const { mappings, profiles, resource, scope } = readOtlp(bytes);
  return [
    `resource ${attributesText(resource)}`,
    `scope ${scope}`,
    ...mappings.map(
      ({ name, start, limit, offset, attributes }) =>
        `mapping 0x${start.toString(16)}-0x${limit.toString(16)} offset 0x${offset.toString(16)} ${JSON.stringify(name)} ${attributesText(attributes)}`,
    ),
    ...profiles.flatMap(({ type, periodType, period, timeNs, durationNs, attributes, samples }) => [
      `profile ${type} period ${period} ${periodType} time_unix_nano ${timeNs} duration_nano ${durationNs} ${attributesText(attributes)}`,
      ...samples.flatMap((sample) => [
        `sample ${sample.value} ${attributesText(sample.attributes)}`,
        ...sample.locations.flatMap(({ address, mapping, frameType, frames }) => [
          `  0x${address.toString(16)} ${mapping} ${frameType}`.trimEnd(),
          ...frames.map((frame) => `    ${frame}`),
        ]),
      ]),
    ]),
    '',
  ].join('\n');
}

function attributesText(attributes: Attributes): string {
  return JSON.stringify(Object.fromEntries([...attributes].map(([key, value]) => [key, typeof value === 'bigint' ? Number(value) : value])));
}
