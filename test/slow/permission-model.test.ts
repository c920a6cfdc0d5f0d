import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { ensureBuilt } from '../support/programs/built-cli.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

beforeAll(ensureBuilt);

const PROGRAM = `
import { openRecording } from ${JSON.stringify(pathToFileURL(join(root, 'dist/node.js')).href)};
const [path, output] = process.argv.slice(1);
const recording = await openRecording(path);
const profile = await recording.profile();
const { places } = profile.binaries.find(({ name }) => name.endsWith('/threads'));
const messages = profile.findings.map(({ message }) => message);
const write = await profile.write('pprof', output).catch(({ code, message }) => ({ code, message }));
console.log(JSON.stringify({ samples: profile.events[0].samples, places, messages, write }));
`;

interface Outcome {
  readonly samples: number;
  readonly places: readonly { readonly place: string; readonly outcome: string }[];
  readonly messages: readonly string[];
  readonly write: { readonly code: string; readonly message: string };
}

describe('a program that may read only some files (node --permission)', () => {
  test('converts, and does not take files that it may not read for missing ones', () => {
    const flag = ['--permission', '--experimental-permission'].find((name) => process.allowedNodeEnvironmentFlags.has(name))!;
    const args = [flag, `--allow-fs-read=${join(root, '*')}`, '--no-warnings', '--input-type=module', '-e', PROGRAM];
    const output = join(tmpdir(), `perfconv-forbidden-${process.pid}.pb.gz`);
    const printed = execFileSync(process.execPath, [...args, join(root, 'fixtures/threads.data'), output], { cwd: root, encoding: 'utf8' });
    const { samples, places, messages, write } = JSON.parse(printed) as Outcome;
    const binary = '/opt/perfconv-fixtures/bin/threads';
    expect(samples).toBe(436);
    expect(places).toContainEqual(expect.objectContaining({ place: binary, outcome: 'forbidden' }));
    expect(messages.join()).toContain(`there is no permission to read ${binary}`);
    expect(write.code).toBe('io');
    expect(write.message.startsWith(`${output}: `)).toBe(true);
    expect(existsSync(output)).toBe(false);
  });
});
