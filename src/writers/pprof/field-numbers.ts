/*
 * Field numbers of proto/profile.proto, message by message, under the names of the generated types. They are repeated
 * here because loading the generated schema takes longer than writing a small profile. A test compares the two.
 */

export const PROFILE = {
  sampleType: 1,
  sample: 2,
  mapping: 3,
  location: 4,
  function: 5,
  stringTable: 6,
  timeNanos: 9,
  durationNanos: 10,
  periodType: 11,
  period: 12,
  comment: 13,
  defaultSampleType: 14,
} as const;

export const VALUE_TYPE = { type: 1, unit: 2 } as const;

export const SAMPLE = { locationId: 1, value: 2, label: 3 } as const;

export const LABEL = { key: 1, str: 2, num: 3, numUnit: 4 } as const;

export const MAPPING = {
  id: 1,
  memoryStart: 2,
  memoryLimit: 3,
  fileOffset: 4,
  filename: 5,
  buildId: 6,
  hasFunctions: 7,
  hasFilenames: 8,
  hasLineNumbers: 9,
  hasInlineFrames: 10,
} as const;

export const LOCATION = { id: 1, mappingId: 2, address: 3, line: 4 } as const;

export const LINE = { functionId: 1, line: 2, column: 3 } as const;

export const FUNCTION = { id: 1, name: 2, systemName: 3, filename: 4, startLine: 5 } as const;
