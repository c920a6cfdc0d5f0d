import { describe, expect, it } from 'vitest';
import { framesOf, inGuest, kernelMap, MODULE, moduleMap, nextTime, sample, TEXT } from './support/builders/recordings/guest-kernels.ts';
import { misc, type RecordSpec, record } from './support/builders/recordings/perf-encoder.ts';

describe('kernels of virtual machines', () => {
  it('are named for a limited number of machines; more are reported', async () => {
    const pids = Array.from({ length: 65 }, (_, i) => 1000 + i);
    const records = pids.flatMap((pid) => [kernelMap(pid, TEXT), sample(pid, TEXT + 0x110n)]);
    const { frames, diagnostics } = await framesOf(records, { guest: { kallsyms: '/guest.kallsyms' } });
    expect(frames.filter((frame) => frame.startsWith('guest_one ')).length).toBe(64);
    expect(diagnostics.count('guest-kernels-excess')).toBe(1);
  });

  it('are named from the given lists, moved to where they ran', async () => {
    const moved = TEXT + 0x1000_0000n;
    const records = [
      kernelMap(0, moved),
      moduleMap(0, MODULE + 0x4000n),
      sample(812, moved + 0x110n),
      sample(813, moved + 0x200n),
      sample(812, MODULE + 0x4010n),
    ];
    const { frames } = await framesOf(records, { guest: { kallsyms: '/guest.kallsyms', modules: '/guest.modules' } });
    expect(frames).toEqual(['guest_one [guest.kernel.kallsyms]', 'guest_two [guest.kernel.kallsyms]', 'gmod_one [gmod]']);
  });

  it('are known to have moved even if only their modules have samples', async () => {
    const records = [kernelMap(0, TEXT + 0x1000_0000n), moduleMap(0, MODULE), sample(812, MODULE + 0x10n)];
    expect((await framesOf(records, { guest: { kallsyms: '/guest.kallsyms' } })).frames).toEqual(['? [gmod]']);
  });

  it("are each at their own addresses, apart from the host's", async () => {
    const host = record.mmap({ pid: -1, tid: 0, addr: TEXT, len: 0x100_0000n, pgoff: TEXT, filename: '[kernel.kallsyms]_text' }, { misc: misc.kernel });
    const records = [
      host,
      kernelMap(812, TEXT),
      kernelMap(813, TEXT + 0x1000n),
      sample(812, TEXT + 0x1100n),
      sample(813, TEXT + 0x1100n),
      sample(814, TEXT + 0x1100n),
    ];
    const { frames } = await framesOf(records, { guest: { kallsyms: '/guest.kallsyms' }, kallsyms: '/guest.kallsyms' });
    expect(frames).toEqual(['guest_two [guest.kernel.kallsyms.812]', 'guest_one [guest.kernel.kallsyms.813]', '? -']);
  });

  it('are named only after a late map', async () => {
    const at = (): RecordSpec => sample(812, TEXT + 0x110n);
    const before = at();
    const map = record.mmap(
      { pid: 0, tid: 0, addr: TEXT, len: 0x100_0000n, pgoff: TEXT, filename: '[guest.kernel.kallsyms]_text' },
      { ...inGuest, sampleId: { time: nextTime() } },
    );
    const { frames } = await framesOf([before, map, at()], { guest: { kallsyms: '/guest.kallsyms' } });
    expect(frames).toEqual(['? -', 'guest_one [guest.kernel.kallsyms]']);
  });

  it('are not named without a list, which is reported with what would help; their programs never are', async () => {
    const { frames, diagnostics } = await framesOf([kernelMap(0, TEXT), sample(812, TEXT + 0x110n), sample(812, 0x40_1000n, 'guestUser')]);
    expect(frames).toEqual(['? [guest.kernel.kallsyms]', '? -']);
    const said = diagnostics.list();
    expect(said.find(({ code }) => code === 'no-symbols')?.message).toContain("{ guestkallsyms: 'FILE' }");
    expect(said.find(({ code }) => code === 'guest-code')?.message).toContain('have no names');
  });
});
