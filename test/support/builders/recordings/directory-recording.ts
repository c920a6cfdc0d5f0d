import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildElf, TEXT } from '../elf/elf-builder.ts';
import { encodeJitDump } from './jitdump-encoder.ts';
import { context, encodeFile, misc, type RecordSpec, record } from './perf-encoder.ts';

const KERNEL = 0xffff_ffff_8100_0000n;
const JIT = 0x7f00_0000_0000n;

/**
 * Makes a directory recording that has names from everywhere: the kernel's from the list that was recorded with it (`recorded_list`), a program's
 * (`main`), inlined functions (`outer::shared`), and code made at run time (`compiled`), whose jitdump file is beside it.
 * @param dir where its files go
 * @returns the recording's path
 */
export function makeDirectoryRecording(dir: string): string {
  const recording = join(dir, 'web.data');
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
    record.mmap2({ ...mmap2, addr: 0x50_0000n, filename: fileURLToPath(new URL('../../../../fixtures/debug/gcc5', import.meta.url)), ino: 2n, maj: 1 }),
    user(0x40_0000n + BigInt(TEXT.offset)),
    user(0x50_09a0n),
    user(JIT + 0x104n),
    record.sample({ ip: KERNEL + 0x110n, pid: 12, tid: 12, time: 30n, callchain: [context.kernel, KERNEL + 0x110n] }, { misc: misc.kernel }),
  ];
  writeFileSync(join(recording, 'data'), encodeFile({ attrs: [...attrs], records }));
  return recording;
}
