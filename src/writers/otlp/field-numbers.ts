/*
 * Field numbers of OTLP, message by message, under the names of the files in proto/opentelemetry/proto: profiles/v1development/profiles.proto, and
 * common/v1/common.proto and resource/v1/resource.proto for what describes the recording. A test compares them.
 */

export const PROFILES_DATA = { resourceProfiles: 1, dictionary: 2 } as const;

export const PROFILES_DICTIONARY = {
  mappingTable: 1,
  locationTable: 2,
  functionTable: 3,
  linkTable: 4,
  stringTable: 5,
  attributeTable: 6,
  stackTable: 7,
} as const;

export const RESOURCE_PROFILES = { resource: 1, scopeProfiles: 2, schemaUrl: 3 } as const;

export const SCOPE_PROFILES = { scope: 1, profiles: 2, schemaUrl: 3 } as const;

export const PROFILE = {
  sampleType: 1,
  samples: 2,
  timeUnixNano: 3,
  durationNano: 4,
  periodType: 5,
  period: 6,
  attributeIndices: 11,
} as const;

export const LINK = { traceId: 1, spanId: 2 } as const;

export const VALUE_TYPE = { typeStrindex: 1, unitStrindex: 2 } as const;

export const SAMPLE = { stackIndex: 1, attributeIndices: 2, values: 4 } as const;

export const MAPPING = { memoryStart: 1, memoryLimit: 2, fileOffset: 3, filenameStrindex: 4, attributeIndices: 5 } as const;

export const STACK = { locationIndices: 1 } as const;

export const LOCATION = { mappingIndex: 1, address: 2, lines: 3, attributeIndices: 4 } as const;

export const LINE = { functionIndex: 1, line: 2, column: 3 } as const;

export const FUNCTION = { nameStrindex: 1, systemNameStrindex: 2, filenameStrindex: 3, startLine: 4 } as const;

export const KEY_VALUE_AND_UNIT = { keyStrindex: 1, value: 2 } as const;

export const ANY_VALUE = { stringValue: 1, boolValue: 2, intValue: 3, arrayValue: 5 } as const;

export const ARRAY_VALUE = { values: 1 } as const;

export const KEY_VALUE = { key: 1, value: 2 } as const;

export const INSTRUMENTATION_SCOPE = { name: 1, version: 2 } as const;

export const RESOURCE = { attributes: 1 } as const;
