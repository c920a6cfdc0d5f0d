import { describe, expect, it } from 'vitest';
import { context, encodeFile, misc, type RecordSpec, record } from '../../support/builders/recordings/perf-encoder.ts';
import { CLOCK, sampleAt, startApp, unmapped, user } from '../../support/builders/recordings/recorded-app.ts';
import { decode, type PlainFrame } from '../../support/readers/decode.ts';

describe('callchains', () => {
  const kernelMap = record.mmap(
    { pid: 0xffffffff, addr: 0xffffffff81000000n, len: 0x1000000n, pgoff: 0xffffffff81000000n, filename: '[kernel.kallsyms]_text' },
    { misc: misc.kernel },
  );
  const kernel = (address: bigint, isReturnAddress = false): PlainFrame => ({ dso: '[kernel.kallsyms]', address, isReturnAddress, cpumode: 1 });

  it('follow their markers from the kernel to the user, with return addresses as callers', async () => {
    const chain = [context.kernel, 0xffffffff81000010n, 0xffffffff81000020n, context.user, 0x400030n, 0x400040n];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [kernelMap, ...startApp(), sampleAt(10n, 0xffffffff81000010n, chain)] }));
    expect(samples[0].frames).toEqual([kernel(0xffffffff81000010n), kernel(0xffffffff81000020n, true), user(0x1030n), user(0x1040n, true)]);
  });

  it('look up callers at the recorded addresses with compatPerf, as perf does', async () => {
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [...startApp(), sampleAt(10n, 0x400030n, [context.user, 0x400030n, 0x400040n])] }), {
      compatPerf: true,
    });
    expect(samples[0].frames.map((frame) => frame.isReturnAddress)).toEqual([false, false]);
  });

  it('find a call at the very end of a map, whose return address is outside', async () => {
    const records = [
      ...startApp(),
      record.mmap2({ pid: 100, addr: 0x410000n, len: 0x1000n, filename: '/lib/next.so' }, { sampleId: { time: 3n } }),
      sampleAt(10n, 0x400030n, [context.user, 0x400030n, 0x410000n]),
    ];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples[0].frames[1]).toEqual(user(0x11000n, true));
  });

  it('find modules and run-time code within the kernel, which has the rest', async () => {
    const records = [
      kernelMap,
      record.mmap({ pid: 0xffffffff, addr: 0xffffffff81400000n, len: 0x1000n, filename: '/lib/modules/6.1/kernel/net/nf-tables.ko.xz' }, { misc: misc.kernel }),
      record.ksymbol({ addr: 0xffffffff81500000n, len: 0x100, ksymType: 1, name: 'bpf_prog_1' }, { sampleId: { time: 1n } }),
      sampleAt(10n, 0n, [context.kernel, 0xffffffff81400004n]),
      sampleAt(11n, 0n, [context.kernel, 0xffffffff81500004n]),
      record.ksymbol({ addr: 0xffffffff81500000n, len: 0x100, ksymType: 1, unregister: true, name: 'bpf_prog_1' }, { sampleId: { time: 12n } }),
      sampleAt(13n, 0n, [context.kernel, 0xffffffff81500004n]),
      sampleAt(14n, 0n, [context.kernel, 0xffffffff81400003n + 0x1000n]),
    ];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map((sample) => sample.frames[0].dso)).toEqual(['[nf_tables]', 'bpf_prog_1', '[kernel.kallsyms]', '[kernel.kallsyms]']);
  });

  it('show, like perf, the paths of the kernel and of modules that have listed build ids', async () => {
    const module = (addr: bigint, filename: string): RecordSpec => record.mmap({ pid: 0xffffffff, addr, len: 0x1000n, filename }, { misc: misc.kernel });
    const paths = ['/lib/modules/6.1/kernel/net/nf-tables.ko.xz', '/lib/modules/6.1/kernel/fs/ext4.ko'];
    const chain = [context.kernel, 0xffffffff81000010n, 0xffffffffc0000004n, 0xffffffffc0001004n, 0xffffffffc0002004n];
    const modules = [module(0xffffffffc0000000n, paths[0]), module(0xffffffffc0001000n, paths[1]), module(0xffffffffc0002000n, '[drm]')];
    const listed = (filename: string) => ({ buildId: new Uint8Array(20).fill(0xcd), filename, misc: misc.kernel });
    const dsosOf = async (compatPerf: boolean, ...filenames: string[]): Promise<unknown[]> => {
      const features = { buildIds: filenames.map(listed) };
      const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [kernelMap, ...modules, sampleAt(10n, 0n, chain)], features }), { compatPerf });
      return samples[0].frames.map(({ dso }) => dso);
    };
    const plain = ['[kernel.kallsyms]', '[nf_tables]', '[ext4]', '[drm]'];
    expect(await dsosOf(true, '[kernel.kallsyms]', paths[0], '[drm]')).toEqual(['[kernel.kallsyms]', paths[0], '[ext4]', '[drm]']);
    expect(await dsosOf(true, '/usr/lib/debug/vmlinux', paths[1])).toEqual(['/usr/lib/debug/vmlinux', '[nf_tables]', paths[1], '[drm]']);
    expect(await dsosOf(true)).toEqual(plain);
    expect(await dsosOf(false, '/usr/lib/debug/vmlinux', ...paths)).toEqual(plain);
  });

  it('give the kernel what follows its text, but not the region of modules and filters after that', async () => {
    const addresses = [0xffffffff82300000n, 0xffffffffbffffff0n, 0xffffffffc0004a20n, 0xffffffffff600000n];
    const records = [kernelMap, ...addresses.map((address, i) => sampleAt(BigInt(10 + i), 0n, [context.kernel, address]))];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map((sample) => sample.frames[0].dso)).toEqual(['[kernel.kallsyms]', '[kernel.kallsyms]', undefined, undefined]);
  });

  it('give run-time code to the newest program there, even if the unloading of the older one was lost', async () => {
    const at = (time: bigint): { sampleId: { time: bigint } } => ({ sampleId: { time } });
    const ip = 0xffffffffc0025040n;
    const records = [
      kernelMap,
      record.ksymbol({ addr: 0xffffffffc0025020n, len: 0x100, name: 'bpf_prog_1_old' }, at(1n)),
      sampleAt(10n, 0n, [context.kernel, ip]),
      record.ksymbol({ addr: 0xffffffffc0025018n, len: 0x80, name: 'bpf_prog_2_new' }, at(11n)),
      sampleAt(12n, 0n, [context.kernel, ip]),
      record.ksymbol({ addr: 0xffffffffc0025018n, len: 0x80, unregister: true, name: 'bpf_prog_2_new' }, at(13n)),
      record.ksymbol({ addr: 0xffffffffc0025018n, len: 0x80, name: 'bpf_trampoline_3' }, at(14n)),
      sampleAt(15n, 0n, [context.kernel, ip]),
    ];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map((sample) => sample.frames[0].dso)).toEqual(['bpf_prog_1_old', 'bpf_prog_2_new', 'bpf_trampoline_3']);
  });

  it('give a 32-bit kernel everything from its text to the end of its address space', async () => {
    const records = [
      record.mmap({ pid: 0xffffffff, addr: 0xc1000000n, len: 0x60_0000n, pgoff: 0xc1000000n, filename: '[kernel.kallsyms]_text' }, { misc: misc.kernel }),
      sampleAt(10n, 0n, [context.kernel, 0xc1000010n]),
      sampleAt(11n, 0n, [context.kernel, 0xc1700010n]),
      sampleAt(12n, 0n, [context.kernel, 0xfffffff0n]),
      sampleAt(13n, 0n, [context.kernel, 0x1_0000_0010n]),
      sampleAt(14n, 0n, [context.kernel, 0xc0000000n]),
    ];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    const kernel = '[kernel.kallsyms]';
    expect(samples.map((sample) => sample.frames[0].dso)).toEqual([kernel, kernel, kernel, undefined, undefined]);
  });

  it('end at the end of the address space even if their map goes on', async () => {
    const records = [
      record.mmap({ pid: 0xffffffff, addr: 0xffffffffc0000000n, len: 0x5000_0000n, filename: '[nf_tables]' }, { misc: misc.kernel }),
      sampleAt(10n, 0n, [context.kernel, 0xffffffffc0000010n]),
      sampleAt(11n, 0n, [context.kernel, 0xffffffffff000010n]),
      sampleAt(12n, 0n, [context.kernel, 0x10n]),
    ];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map((sample) => sample.frames[0].dso)).toEqual(['[nf_tables]', '[nf_tables]', undefined]);
  });

  it('use the page offset as the start of a kernel that an old recording maps at 0', async () => {
    const records = [
      record.mmap(
        { pid: 0xffffffff, addr: 0n, len: 0xffffffff9fffffffn, pgoff: 0xffffffff81000000n, filename: '[kernel.kallsyms]_text' },
        { misc: misc.kernel },
      ),
      sampleAt(10n, 0n, [context.kernel, 0xffffffff81000010n]),
      sampleAt(11n, 0n, [context.kernel, 0xffffffff9fffff00n]),
      sampleAt(12n, 0n, [context.kernel, 0xffffffff80000000n]),
    ];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map((sample) => sample.frames[0].dso)).toEqual(['[kernel.kallsyms]', '[kernel.kallsyms]', undefined]);
  });

  it('never look up guests and hypervisors in the host', async () => {
    const chain = [context.guestKernel, 0xffffffff81000010n, context.guestUser, 0x400030n, context.hypervisor, 0x400030n];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [kernelMap, ...startApp(), sampleAt(10n, 0n, chain)] }));
    expect(samples[0].frames.map(({ dso, cpumode }) => [dso, cpumode])).toEqual([
      [undefined, 4],
      [undefined, 5],
      [undefined, 3],
    ]);
  });

  it('end at an unknown marker, which is reported, while perf drops them entirely', async () => {
    const chain = [context.user, 0x400030n, BigInt.asUintN(64, -77n), 0x400040n];
    const bytes = encodeFile({ attrs: [CLOCK], records: [...startApp(), sampleAt(10n, 0x400030n, chain)] });
    const { samples, diagnostics } = await decode(bytes);
    expect(samples[0].frames).toEqual([user(0x1030n)]);
    expect(diagnostics.list()).toMatchObject([{ code: 'bad-callchain', severity: 'info' }]);
    const asPerf = await decode(bytes, { compatPerf: true });
    expect(asPerf.samples[0].frames).toEqual([]);
    expect(asPerf.diagnostics.list()).toMatchObject([{ code: 'bad-callchain', severity: 'loss' }]);
  });

  it('do not show the cookie of a deferred part that was not asked for', async () => {
    const chain = [context.kernel, 0xffffffff81000010n, context.userDeferred, 0x1234n];
    const { samples, diagnostics } = await decode(encodeFile({ attrs: [CLOCK], records: [kernelMap, sampleAt(10n, 0n, chain)] }));
    expect(samples[0].frames).toEqual([kernel(0xffffffff81000010n)]);
    expect(diagnostics.list()).toMatchObject([{ code: 'callchain-deferred', severity: 'loss' }]);
  });

  it('without a usable address consist of the sampled one', async () => {
    const unknown = BigInt.asUintN(64, -77n);
    const chains = [[context.user], [context.kernel, context.user], [unknown, 0x400040n], [context.user, unknown, 0x400040n]];
    const records = [...startApp(), ...chains.map((chain, i) => sampleAt(10n + BigInt(i), 0x400030n, chain))];
    const { samples, diagnostics } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map(({ frames }) => frames)).toEqual(chains.map(() => [user(0x1030n)]));
    expect(diagnostics.list()).toMatchObject([{ code: 'bad-callchain', count: 2 }]);
  });

  it('begin with the sampled address if it is to be the leaf, as in perf report', async () => {
    const unknown = BigInt.asUintN(64, -77n);
    const chains = [
      { chain: [context.user, 0x400030n, 0x400040n], frames: [0x1030n, 0x1040n] },
      { chain: [0x400030n, 0x400040n], frames: [0x1030n, 0x1040n] },
      { chain: [context.user, 0x400040n], frames: [0x1030n, 0x1040n] },
      { chain: [context.kernel, 0x400030n], frames: [0x1030n, 0x400030n] },
      { chain: [], frames: [0x1030n] },
      { chain: [context.user], frames: [0x1030n] },
      { chain: [context.user, 0x400030n, unknown, 0x400040n], frames: [0x1030n] },
      { chain: [unknown, 0x400040n], frames: [0x1030n] },
    ];
    const records = [...startApp(), ...chains.map(({ chain }, i) => sampleAt(10n + BigInt(i), 0x400030n, chain))];
    const { samples, diagnostics } = await decode(encodeFile({ attrs: [CLOCK], records }), { compatPerf: true, leaf: 'ip' });
    expect(samples.map(({ frames }) => frames.map(({ address }) => address))).toEqual(chains.map(({ frames }) => frames));
    expect(diagnostics.list()).toMatchObject([{ code: 'bad-callchain', severity: 'loss' }]);
  });

  it('that are empty consist of the sampled address', async () => {
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [...startApp(), sampleAt(10n, 0x400030n, [])] }));
    expect(samples[0].frames).toEqual([user(0x1030n)]);
  });

  it('keep addresses exactly that no map can hold', async () => {
    const garbage = 0x3b353de6a7068161n;
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [...startApp(), sampleAt(10n, 0x400030n, [context.user, 0x400030n, garbage])] }));
    expect(samples[0].frames[1]).toEqual(unmapped(garbage, true));
  });

  it('are cut to the length asked for, from the leaf', async () => {
    const chain = [context.user, 0x400030n, 0x400040n, 0x400050n];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [...startApp(), sampleAt(10n, 0x400030n, chain)] }), { maxStack: 2 });
    expect(samples[0].frames.map((frame) => frame.address)).toEqual([0x1030n, 0x1040n]);
  });
});
