import { describe, expect, it } from 'vitest';
import { SwitchRecords } from '../../support/builders/recordings/switch-recordings.ts';
import { type Decoded, decode } from '../../support/readers/decode.ts';
import { D, findings, isWait, MS, OFF, R, S } from '../../support/truth/off-cpu-waits.ts';

describe('times off the CPU', () => {
  describe('at stacks whose user part comes in a record of its own', () => {
    const KERNEL = '0xffffffff81000010';
    const stacksOf = ({ samples }: Decoded) =>
      samples
        .filter(isWait)
        .map(({ event, frames, period, tid }) => [
          tid,
          event.slice('off-cpu:'.length),
          period / MS,
          ...frames.map(({ address }) => `0x${address.toString(16)}`),
        ]);

    it('have that part and all their time, whichever is known first', async () => {
      const recording = new SwitchRecords()
        .sched(10 * MS, { prev: 101, state: S, next: 0, cookie: 7n })
        .sched(12 * MS, { prev: 0, state: R, next: 101 })
        .sched(13 * MS, { prev: 101, state: D, next: 0, cookie: 7n })
        .sched(17 * MS, { prev: 0, state: R, next: 101 })
        .callchain(101, 18 * MS, 7n)
        .contextSwitch(102, 20 * MS, 8n)
        .out(102, 20 * MS + 1000)
        .in(102, 25 * MS + 1000)
        .callchain(102, 26 * MS, 8n)
        // Interrupted on its way back.
        .sched(27 * MS, { prev: 102, state: R, next: 0, cookie: 8n })
        .sched(28 * MS, { prev: 0, state: R, next: 102 });
      const decoded = await decode(recording.file(), OFF);
      expect(stacksOf(decoded)).toEqual([
        [101, 'sleeping', 2, KERNEL, '0x4065', '0x4165'],
        [101, 'blocked', 4, KERNEL, '0x4065', '0x4165'],
        [102, 'waiting', 5, KERNEL, '0x4066', '0x4166'],
        [102, 'preempted', 1, KERNEL, '0x4066', '0x4166'],
      ]);
      expect(decoded.profile.events.filter(({ unit, samples }) => unit === 'nanoseconds' && samples > 0).map(({ period }) => period / MS)).toEqual([
        2, 4, 1, 5,
      ]);
      expect(findings(decoded)).toEqual([]);
    });

    it('keep their time if another sample takes their place before they end', async () => {
      const recording = new SwitchRecords()
        .sched(10 * MS, { prev: 101, state: S, next: 0, cookie: 7n })
        // Before the kernel has switched.
        .callchain(101, 10 * MS + 20_000, 7n)
        .contextSwitch(102, 11 * MS, 8n)
        .callchain(102, 12 * MS, 8n)
        .in(101, 15 * MS);
      expect(stacksOf(await decode(recording.file(), OFF))).toEqual([[101, 'sleeping', 5, KERNEL, '0x4065', '0x4165']]);
    });

    it('have that part even if only waits are asked for, and end at its record at the latest', async () => {
      const recording = new SwitchRecords()
        .sched(10 * MS, { prev: 101, state: S, next: 0, cookie: 7n })
        .callchain(101, 13 * MS, 7n)
        .tick(101, 20 * MS);
      const decoded = await decode(recording.file(), { ...OFF, filter: { events: ['off-cpu:sleeping'] } });
      expect(stacksOf(decoded)).toEqual([[101, 'sleeping', 3, KERNEL, '0x4065', '0x4165']]);
      expect(findings(decoded)).toEqual(['off-cpu-unseen-return 1']);
    });

    it('keep the part they have, and all their time, if the record never comes', async () => {
      const recording = new SwitchRecords().sched(10 * MS, { prev: 101, state: S, next: 0, cookie: 7n }).tick(102, 30 * MS);
      const decoded = await decode(recording.file(), OFF);
      expect(stacksOf(decoded)).toEqual([[101, 'sleeping', 20, KERNEL]]);
      expect(decoded.profile.totals.period(decoded.profile.totals.size - 1)).toBe(20 * MS);
      expect(findings(decoded)).toEqual(['off-cpu-until-end 1', 'callchain-deferred 2']);
    });
  });
});
