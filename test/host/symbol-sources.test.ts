import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { SharedSymbols, type SymbolPlaces, symbolSources } from '../../src/host/symbols/symbol-sources.ts';
import type { CodeObject } from '../../src/symbolizer/symbolizer.ts';

const KERNEL: CodeObject = { name: '[kernel.kallsyms]', kind: 'kernel', buildId: '', osRelease: '' };

const dir = mkdtempSync(join(tmpdir(), 'sources-'));
afterAll(() => rmSync(dir, { recursive: true }));

test.each([
  ['are read once if they are shared', new SharedSymbols(), ['schedule', 'schedule']],
  ['are read by each recording otherwise', undefined, ['schedule', undefined]],
])('symbols of the kernel %s', async (_, shared, expected) => {
  const kallsyms = join(dir, 'kallsyms');
  writeFileSync(kallsyms, 'ffffffff81000000 T _text\nffffffff81000100 T schedule\n');
  const places: SymbolPlaces = { kallsyms, debugDirs: [], ...(shared && { shared }) };
  const named: (string | undefined)[] = [];
  for (let recording = 0; recording < 2; recording++) {
    const symbols = await symbolSources({}, new Diagnostics(), places).symbolizer.forRecording({}).symbolsFor(KERNEL);
    named.push(symbols?.table?.name(symbols.table.find(0x81000110 - 2 ** 32)));
    rmSync(kallsyms, { force: true });
  }
  expect(named).toEqual(expected);
});
