import { expect, it } from 'vitest';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import type { ScriptFieldChoice } from '../../../src/writers/script/field-requests.ts';
import { writeScript } from '../../../src/writers/script/script.ts';
import { buildProfile } from '../../support/builders/profiles/build-profile.ts';

async function scriptOf(fields: readonly ScriptFieldChoice[] | undefined, nameOf?: (linkageName: string) => string | undefined): Promise<string[]> {
  const hot = { name: 'hot', dso: '/bin/app', file: '/src/hot.c', line: 12, address: 0x1234 };
  const profile = buildProfile([
    {
      timeNs: 0,
      stack: [
        { name: 'main', address: 0x2000 },
        { ...hot, inlined: [{ name: 'inner', file: '/src/inner.h', line: 3 }, { name: 'middle' }] },
      ],
    },
    { timeNs: 1, stack: [{ name: 'gone', dso: '/lib/libx.so', address: 0x4f2c1, unresolved: true }] },
  ]);
  const sink = new BufferSink();
  await writeScript(profile, sink, { ...(fields && { fields: [{ fields }] }), ...(nameOf && { nameOf }) });
  return sink.text().split('\n');
}

it('script: inlined functions have lines of their own, with the offset in the function that contains them', async () => {
  expect((await scriptOf(undefined)).slice(1, 6)).toEqual([
    '\t            1234 inner+0x4 (inlined)',
    '\t            1234 middle+0x4 (inlined)',
    '\t            1234 hot+0x4 (/bin/app)',
    '\t            2000 main+0x4 (/bin/app)',
    '',
  ]);
});

it('script: source lines are on lines of their own, as perf prints them', async () => {
  const lines = await scriptOf(['comm', 'ip', 'sym', 'dso', 'srcline']);
  expect(lines).toEqual([
    'app ',
    '\t            1234 inner',
    '  inner.h:3 (inlined)',
    '\t            1234 middle',
    '  app[1234] (inlined)',
    '\t            1234 hot (/bin/app)',
    '  hot.c:12',
    '\t            2000 main (/bin/app)',
    '  app[2000]',
    '',
    'app ',
    '\t           4f2c1 [unknown] (/lib/libx.so)',
    '  libx.so[4f2c1]',
    '',
    '',
  ]);
  expect((await scriptOf(['ip', 'srcline']))[2]).toBe('  inner.h:3 (inlined)');
});

it("script: a source line shows its own file, even if that is not the function's", async () => {
  const profile = buildProfile([{ timeNs: 0, stack: [{ name: 'hot', file: '/src/hot.c', line: 12, address: 0x1234 }] }]);
  profile.locations.setLines(0, [{ function: profile.locations.lineFunction(0, 0), line: 7, column: 0, file: profile.strings.intern('/src/part.def') }], 4);
  const sink = new BufferSink();
  await writeScript(profile, sink, { fields: [{ fields: ['ip', 'srcline'] }] });
  expect(sink.text().split('\n')[2]).toBe('  part.def:7');
});

it('script: there can be more events than a call can have arguments', async () => {
  const profile = buildProfile([{ timeNs: 0, stack: ['main'] }]);
  const events = new Array<(typeof profile.events)[number]>(200_000).fill(profile.events[0]);
  const sink = new BufferSink();
  await writeScript({ ...profile, events }, sink);
  expect(sink.text()).toContain(`${events[0].name}: `);
});

it('script: callchains of tracepoints from a pipe are printed as by perf on request', async () => {
  const profile = buildProfile([{ timeNs: 0, stack: [{ name: 'main', dso: '/bin/app', address: 0x2000 }] }], {
    meta: { isStream: true },
  });
  Object.assign(profile.events[0], { isTracepoint: true });
  const lastLine = async (likePerf: boolean): Promise<string> => {
    const sink = new BufferSink();
    await writeScript(profile, sink, { likePerf });
    return sink.text().trimEnd().split('\n').at(-1) ?? '';
  };
  expect([await lastLine(false), await lastLine(true)]).toEqual(['\t            2000 main+0x4 (/bin/app)', '\t            2000 main']);
});
