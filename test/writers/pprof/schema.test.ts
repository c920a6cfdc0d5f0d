import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DescMessage } from '@bufbuild/protobuf';
import { afterAll, describe, expect, test } from 'vitest';
import * as schemas from '../../../src/proto/profile_pb.ts';
import * as fields from '../../../src/writers/pprof/fields.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const bin = join(root, 'node_modules/.bin');
const buf = join(bin, 'buf');
// buf finds protoc-gen-es on the PATH.
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };

function bufProblem(): string | undefined {
  try {
    execFileSync(buf, ['--version'], { cwd: root, env, stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return String(error);
  }
}

const problem = bufProblem();
if (problem !== undefined) console.warn(`SKIPPED: regenerating src/proto, since buf does not run: ${problem}`);

describe('field numbers of pprof-fields.ts are those of profile.proto', () => {
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

describe.skipIf(problem !== undefined)('src/proto', () => {
  const directory = mkdtempSync(join(tmpdir(), 'perfconv-generate-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  test('is what buf generates from proto/', () => {
    execFileSync(buf, ['generate', '--output', directory], { cwd: root, env, stdio: 'pipe' });
    const generated = readFileSync(join(directory, 'src/proto/profile_pb.ts'), 'utf8');
    expect(readFileSync(join(root, 'src/proto/profile_pb.ts'), 'utf8')).toBe(generated);
  });
});
