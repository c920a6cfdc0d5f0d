import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { OutputStage } from '../../../src/host/output/output-stage.ts';
import { NodeSymbolFiles } from '../../../src/host/symbols/symbol-files.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';

const isRoot = process.getuid?.() === 0;
if (isRoot) announceSkipped('files that may not be read', 'root may read all');
else announceSkipped('outputs that belong to others', 'only root can make them');

let dir = '';
const at = (name: string): string => join(dir, name);
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-owners-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test.skipIf(!isRoot)('an output that is replaced keeps its owner and its mode', async () => {
  writeFileSync(at('a'), 'old');
  chownSync(at('a'), 65534, 65533);
  chmodSync(at('a'), 0o4640);
  const stage = new OutputStage();
  await (await stage.openFile(at('a'))).write(new TextEncoder().encode('new'));
  expect(await stage.commit()).toEqual([]);
  const { uid, gid, mode } = statSync(at('a'));
  // As after a write, it has no set-user-ID or set-group-ID bit.
  expect([readFileSync(at('a'), 'utf8'), uid, gid, mode & 0o7777]).toEqual(['new', 65534, 65533, 0o640]);
});

test.skipIf(isRoot)('a symbol file without read permission is told apart from a missing one', async () => {
  const files = new NodeSymbolFiles();
  writeFileSync(at('secret'), 'x', { mode: 0o200 });
  expect(await files.open(at('secret'))).toBeUndefined();
  expect(await files.isForbidden(at('secret'))).toBe(true);
});
