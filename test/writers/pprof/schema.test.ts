import type { DescMessage } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import * as schemas from '../../../src/proto/profile_pb.ts';
import * as fields from '../../../src/writers/pprof/field-numbers.ts';

describe('pprof: field-numbers.ts agrees with profile.proto on the fields of', () => {
  const tables: [string, Record<string, number>, DescMessage][] = [
    ['Profile', fields.PROFILE, schemas.ProfileSchema],
    ['ValueType', fields.VALUE_TYPE, schemas.ValueTypeSchema],
    ['Sample', fields.SAMPLE, schemas.SampleSchema],
    ['Label', fields.LABEL, schemas.LabelSchema],
    ['Mapping', fields.MAPPING, schemas.MappingSchema],
    ['Location', fields.LOCATION, schemas.LocationSchema],
    ['Line', fields.LINE, schemas.LineSchema],
    ['Function', fields.FUNCTION, schemas.FunctionSchema],
  ];
  test.each(tables)('%s', (_, numbers, schema) => {
    for (const [name, number] of Object.entries(numbers)) expect([name, number]).toEqual([name, schema.field[name]?.number]);
  });
});
