import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { announceSkipped } from '../support/perf/perf-tool.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
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
if (problem !== undefined) announceSkipped('generating src/proto', `buf does not run: ${problem}`);

describe.skipIf(problem !== undefined)('src/proto', () => {
  const directory = mkdtempSync(join(tmpdir(), 'perfconv-generate-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  test('is what buf generates from proto/', () => {
    execFileSync(buf, ['generate', '--output', directory], { cwd: root, env, stdio: 'pipe' });
    const generated = readFileSync(join(directory, 'src/proto/profile_pb.ts'), 'utf8');
    expect(readFileSync(join(root, 'src/proto/profile_pb.ts'), 'utf8')).toBe(generated);
  });
});
