import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BufferSink } from '../../src/base/byte-sink.ts';
import { Diagnostics } from '../../src/base/diagnostics.ts';
import { openFile } from '../../src/host/open-input.ts';
import { readingOptions } from '../../src/host/reading-options.ts';
import { convert } from '../../src/pipeline/convert.ts';
import type { Format } from '../../src/pipeline/formats.ts';
import { buildElf, TEXT } from '../support/elf-builder.ts';
import { encodeJitDump } from '../support/jitdump-encoder.ts';
import { context, encodeFile, misc, type RecordSpec, record } from '../support/perf-encoder.ts';
import { runMain } from '../support/run-main.ts';

const KERNEL = 0xffff_ffff_8100_0000n;
const JIT = 0x7f00_0000_0000n;

let dir = '';
let recording = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-reading-'));
  recording = join(dir, 'web.data');
  mkdirSync(join(recording, 'kcore_dir'), { recursive: true });
  writeFileSync(join(recording, 'kcore_dir/kallsyms'), 'ffffffff81000000 T _text\nffffffff81000100 T recorded_list\n');
  const dump = join(dir, 'jit-12.dump');
  writeFileSync(dump, encodeJitDump({ records: [{ load: 'compiled', at: JIT + 0x100n, code: 64, index: 1n, time: 20n }] }));
  const program = join(dir, 'server');
  writeFileSync(program, buildElf({ classBits: 64, littleEndian: true, symbols: [{ name: 'main', value: TEXT.vaddr, sizeBytes: 64 }] }));
  const mmap2 = { pid: 12, tid: 12, len: 0x1_0000n };
  const user = (ip: bigint): RecordSpec => record.sample({ ip, pid: 12, tid: 12, time: 30n, callchain: [context.user, ip] }, { misc: misc.user });
  const attrs = [
    { name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'callchain'], flags: ['sampleIdAll', 'useClockid'], clockid: 1 },
  ] as const;
  const records = [
    record.mmap({ pid: -1, tid: 0, addr: KERNEL, len: 0x100_0000n, pgoff: KERNEL, filename: '[kernel.kallsyms]_text' }, { misc: misc.kernel }),
    record.mmap2({ ...mmap2, addr: 0x40_0000n, filename: program, ino: 1n, maj: 1 }),
    record.mmap2({ ...mmap2, addr: 0x7e00_0000_0000n, filename: dump, ino: 5n }),
    record.mmap2({ ...mmap2, addr: JIT, filename: '//anon', prot: 7 }),
    record.mmap2({ ...mmap2, addr: 0x50_0000n, filename: fileURLToPath(new URL('../../fixtures/debug/gcc5', import.meta.url)), ino: 2n, maj: 1 }),
    user(0x40_0000n + BigInt(TEXT.offset)),
    user(0x50_09a0n),
    user(JIT + 0x104n),
    record.sample({ ip: KERNEL + 0x110n, pid: 12, tid: 12, time: 30n, callchain: [context.kernel, KERNEL + 0x110n] }, { misc: misc.kernel }),
  ];
  writeFileSync(join(recording, 'data'), encodeFile({ attrs: [...attrs], records }));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test.each<Exclude<Format, 'csv'>>(['folded', 'script', 'speedscope', 'chrome'])('the library reads an input as the command line does: %s', async (format) => {
  const diagnostics = new Diagnostics();
  const input = await openFile(recording, diagnostics);
  const sink = new BufferSink();
  await convert(input.source, [{ format, sink }], readingOptions(input, diagnostics), diagnostics);
  await input.source.close();
  const { status, stdout, stderr } = await runMain(['-t', format, '-o', '-', recording], { env: { HOME: process.env.HOME ?? '' } });
  expect(status).toBe(0);
  // The program adds its version to its name.
  expect(sink.text()).toBe(stdout.toString().replace(/perfconv@[\d.]+/, 'perfconv'));
  for (const name of ['recorded_list', 'compiled', 'main']) expect(sink.text()).toContain(name);
  // No build id was recorded of the program, which was made anew since: both doubt it.
  expect(stderr).toContain('may not be the file that was recorded');
  expect(diagnostics.count('file-changed')).toBe(2);
});

test('places that are named take precedence, and the rest stays as it is', async () => {
  const diagnostics = new Diagnostics();
  const input = await openFile(recording, diagnostics);
  writeFileSync(join(dir, 'kallsyms'), 'ffffffff81000000 T _text\nffffffff81000100 T given_list\n');
  const sink = new BufferSink();
  await convert(input.source, [{ format: 'folded', sink }], readingOptions(input, diagnostics, { kallsyms: join(dir, 'kallsyms') }), diagnostics);
  await input.source.close();
  expect(sink.text()).toContain('given_list');
  expect(sink.text()).toContain('compiled');
});

test.each([false, true])('what is read from debug information by default is the same, too: --compat perf %s', async (compatPerf) => {
  const diagnostics = new Diagnostics();
  const input = await openFile(recording, diagnostics);
  const sink = new BufferSink();
  await convert(input.source, [{ format: 'folded', sink }], readingOptions(input, diagnostics, { compatPerf }), diagnostics);
  await input.source.close();
  const args = ['-t', 'folded', '-o', '-', ...(compatPerf ? ['--compat', 'perf'] : []), recording];
  expect(sink.text()).toBe((await runMain(args, { env: { HOME: process.env.HOME ?? '' } })).stdout.toString());
  // perf 6.1 shows no inlined functions here.
  expect(sink.text().includes('outer::shared')).toBe(!compatPerf);
});
