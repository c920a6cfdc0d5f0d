import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { identify } from '../../viewer/converter/file-kinds.ts';
import { sizeText } from '../../viewer/converter/size-text.ts';
import { VanishedFile } from '../support/vanished-file.ts';

const SYMBOLS = 'ffffffff81000000 T _stext\n';

test.each([
  ['perf.data', 'PERFILE2\0', 'recording'],
  ['big-endian.data', '2ELIFREP', 'recording'],
  ['old.data', 'PERFFILE', 'recording'],
  ['bin/app', '\x7fELF\x02\x01', 'binary'],
  ['boot/vmlinux-6.1', '\x7fELF\x02\x01', 'vmlinux'],
  ['vmlinux/app', '\x7fELF\x02\x01', 'binary'],
  ['perf-812.map', '7f00 10 f\n', 'jit'],
  ['perf-x.map', 'what else', 'other'],
  ['jit-812.dump', 'DTiJ\x01', 'jit'],
  ['big-endian.dump', 'JiTD\0', 'jit'],
  ['kallsyms', '0000000000000000 t hidden\n', 'kallsyms'],
  ['my.txt', SYMBOLS, 'kallsyms'],
  ['web.data/data.12', 'records', 'part'],
  ['data.1', 'PERFILE2', 'recording'],
  ['data.x', 'records', 'other'],
  ['notes.txt', 'deadbeef is not an address', 'other'],
  ['empty', '', 'other'],
])('%s is known by how it begins', async (path, text, kind) => {
  const file = { path, data: new Blob([Buffer.from(text, 'latin1')]) };
  expect(await identify(file)).toEqual({ kind, file });
});

const packed = (path: string, text: string) => ({ path, data: new Blob([new Uint8Array(gzipSync(text))]) });

test('compressed recordings are known, and unpacked later', async () => {
  const recording = packed('web.data.gz', 'PERFILE2 and more');
  expect(await identify(recording)).toEqual({ kind: 'recording', file: recording });
  for (const name of ['plain.data.xz', 'plain.data.zst']) {
    const file = { path: name, data: new Blob([new Uint8Array(readFileSync(new URL(`../host/packed/${name}`, import.meta.url)))]) };
    expect(await identify(file)).toEqual({ kind: 'recording', file });
  }
  const damaged = { path: 'perf.data.gz', data: new Blob(['\x1f', new Uint8Array([0x8b, 8]), 'PERFILE2']) };
  expect(await identify(damaged)).toEqual({ kind: 'other', file: damaged });
});

test('recordings and lists in several members of gzip are unpacked', async () => {
  const joined = (path: string, ...texts: string[]) => ({ path, data: new Blob(texts.map((text) => new Uint8Array(gzipSync(text)))) });
  expect((await identify(joined('web.data.gz', 'PERFILE2', 'and more'))).kind).toBe('recording');
  const list = await identify(joined('kallsyms.gz', SYMBOLS, SYMBOLS));
  expect(await list.file.data.text()).toBe(SYMBOLS + SYMBOLS);
});

test('what bzip2 has compressed is known, since it has to be unpacked first', async () => {
  const file = { path: 'web.data.bz2', data: new Blob(['BZh91AY']) };
  expect(await identify(file)).toEqual({ kind: 'bzip2', file });
});

test('compressed kernel modules are known, and unpacked later', async () => {
  const module = packed('kernel/fs/ext4.ko.gz', '\x7fELF');
  expect(await identify(module)).toEqual({ kind: 'binary', file: module });
  for (const [path, text] of [
    ['ext4.ko.gz', 'no ELF'],
    ['app.gz', '\x7fELF'],
  ]) {
    const other = packed(path, text);
    expect(await identify(other)).toEqual({ kind: 'other', file: other });
  }
});

test('compressed kernel symbols are unpacked, up to where they are damaged', async () => {
  const symbols = await identify(packed('boot/kallsyms.gz', SYMBOLS));
  expect([symbols.kind, symbols.file.path, await symbols.file.data.text()]).toEqual(['kallsyms', 'boot/kallsyms', SYMBOLS]);
  const list = packed('perf-1.map.gz', '7f00 10 f\n');
  expect(await identify(list)).toEqual({ kind: 'other', file: list });
  const text = SYMBOLS.repeat(50_000);
  const whole = gzipSync(text, { level: 0 });
  const cut = await identify({ path: 'kallsyms.gz', data: new Blob([new Uint8Array(whole.subarray(0, whole.length / 2))]) });
  const unpacked = await cut.file.data.text();
  expect(unpacked.length).toBeGreaterThan(text.length / 4);
  expect(text.startsWith(unpacked)).toBe(true);
});

test('what the browser may not read is told from other files', async () => {
  const vanished = { path: 'perf.data', data: new VanishedFile('perf.data', 9) };
  expect(await identify(vanished)).toEqual({ kind: 'unreadable', file: vanished });
});

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1023, '1023 bytes'],
  [1536, '1.5 KiB'],
  [3 << 20, '3.0 MiB'],
  [5000 * 2 ** 30, '5000.0 GiB'],
])('a size of %d is shown as %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});
