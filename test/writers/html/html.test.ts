import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import type { ByteSink } from '../../../src/base/streams/byte-sink.ts';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { writeProfile } from '../../../src/pipeline/write-profile.ts';
import { CPUMODE_USER } from '../../../src/profile/location-table.ts';
import type { Profile } from '../../../src/profile/profile.ts';
import { writeFolded } from '../../../src/writers/folded/folded.ts';
import { Base64Sink } from '../../../src/writers/html/base64-sink.ts';
import { writeHtml } from '../../../src/writers/html/html.ts';
import { CODE_KINDS, type PageData } from '../../../src/writers/html/page-data.ts';
import { CallTree } from '../../../viewer/model/call-tree.ts';
import { functionWeights } from '../../../viewer/model/function-weights.ts';
import { selfWeights, totalWeights } from '../../../viewer/model/selection.ts';
import { buildProfile, type SampleSpec } from '../../support/builders/profiles/build-profile.ts';
import { pageOf, pageRecording } from '../../support/builders/profiles/page-recording.ts';
import { randomProfile } from '../../support/builders/profiles/random-profile.ts';
import { failure } from '../../support/failure.ts';
import { mergeProfiles } from '../../support/merge-profiles.ts';
import { htmlText, readHtml, stackOf } from '../../support/readers/read-html.ts';
import { runs } from '../../support/thoroughness.ts';

const dataOf = async (samples: readonly SampleSpec[]): Promise<PageData> => readHtml(await pageOf(buildProfile(samples)));
const textOf = (page: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(page);

/** Lines like those of folded stacks: `cpu-clock app (100): main;f 3 samples, 5`. */
function linesOf(data: PageData): string[] {
  return data.totals.flatMap(({ event, node, period, samples, thread }) =>
    node.map((leaf, row) => {
      const stack = stackOf(data, leaf).map(({ isInlined, name }) => (isInlined ? `[${name}]` : name));
      return `${data.events[event].name} ${data.threads[thread].name} (${data.threads[thread].tid}): ${stack.join(';')} ${samples[row]} samples, ${period[row]}`;
    }),
  );
}

describe('the data of a page', () => {
  test('has the samples of each event and thread, added up by stack', async () => {
    const data = await dataOf([
      { timeNs: 0, period: 5, stack: ['main', { name: 'f', line: 1 }] },
      { timeNs: 1, period: 6, stack: ['main', { name: 'f', line: 2 }] },
      { timeNs: 2, period: 7, stack: ['main'] },
      { timeNs: 3, period: 8, tid: 101, comm: 'worker', stack: ['main', { name: 'f', inlined: [{ name: 'g' }] }] },
      { timeNs: 4, period: 9, event: 'page-faults', stack: [] },
    ]);
    expect(linesOf(data).sort()).toEqual([
      'cpu-clock app (100): main 1 samples, 7',
      'cpu-clock app (100): main;f 2 samples, 11',
      'cpu-clock worker (101): main;f;[g] 1 samples, 8',
      'page-faults app (100): (no stack) 1 samples, 9',
    ]);
    expect(data.events.map(({ name, period, samples, unit }) => [name, unit, samples, period])).toEqual([
      ['cpu-clock', 'nanoseconds', 4, 26],
      ['page-faults', 'count', 1, 9],
    ]);
    expect([data.name, data.command, data.exporter, data.weight, data.byInput]).toEqual([
      'perf.data',
      'perf record -g ./app',
      'perfconv@test',
      'period',
      false,
    ]);
  });

  test('has the file, the lowest line, the binary and the kind of each function', async () => {
    const data = await dataOf([
      {
        timeNs: 0,
        stack: [
          { name: 'main', file: '/src/a.c', line: 20 },
          { name: 'read', dso: '[kernel.kallsyms]' },
        ],
      },
      {
        timeNs: 1,
        stack: [
          { name: 'main', file: '/src/a.c', line: 9 },
          { name: 'x', dso: '/lib/b.so', unresolved: true, address: 0x1234 },
        ],
      },
    ]);
    const frames = data.nodes.code.map((_, node) => stackOf(data, node).at(-1)!);
    expect(frames.map(({ binary, file, kind, line, name }) => [name, file, line, binary, CODE_KINDS[kind]])).toEqual([
      ['main', '/src/a.c', 9, '/bin/app', 'user'],
      ['read', '', 0, '[kernel.kallsyms]', 'kernel'],
      ['0x1234 (b.so)', '', 0, '/lib/b.so', 'unknown'],
    ]);
  });

  test('tells code that was made at run time, what only stands for code, and marks apart', async () => {
    const { mappings, ...profile } = buildProfile([{ timeNs: 0, stack: ['compiled'] }]);
    const { functions, locations, stacks, strings, totals } = profile;
    for (const [variant, name] of ['[truncated]', '[off-CPU]', '[unknown]'].entries()) {
      const location = locations.intern(-1, 0, 0, CPUMODE_USER, false, variant + 1);
      locations.setStandIn(location, functions.intern(strings.intern(name)));
      totals.add(0, 0, stacks.intern(-1, location), 1);
    }
    const standIn = locations.intern(0, 0x9000, 0, CPUMODE_USER, false);
    locations.setStandIn(standIn, functions.intern(strings.intern('[app]')));
    totals.add(0, 0, stacks.intern(-1, standIn), 1);
    const data = readHtml(await pageOf({ ...profile, mappings: mappings.map((mapping) => ({ ...mapping, kind: 'anon' })) }));
    const frames = data.nodes.code.map((_, node) => stackOf(data, node)[0]);
    expect(frames.map(({ kind, name }) => `${name}: ${CODE_KINDS[kind]}`)).toEqual([
      'compiled: jit',
      '[truncated]: mark',
      '[off-CPU]: mark',
      '[unknown]: unknown',
      '[app]: unknown',
    ]);
  });

  test('tells functions of one name in different binaries apart', async () => {
    const data = await dataOf([
      {
        timeNs: 0,
        stack: [
          { name: 'init', dso: '/lib/a.so' },
          { name: 'init', dso: '/lib/b.so' },
        ],
      },
    ]);
    expect(data.functions.name).toHaveLength(2);
  });

  test('begins with the event that has the most samples', async () => {
    const faults = { event: 'page-faults', stack: ['main'] };
    expect(
      (
        await dataOf([
          { timeNs: 0, stack: ['main'] },
          { ...faults, timeNs: 1 },
          { ...faults, timeNs: 2 },
        ])
      ).event,
    ).toBe(1);
  });

  test('has names without parameters, and beside them the full ones, unless a style was asked for', async () => {
    const profile = buildProfile([{ timeNs: 0, stack: ['_Z3fooi', 'main'] }]);
    const namesOf = async (options: Parameters<typeof writeProfile>[3]): Promise<string[]> => {
      const sink = new BufferSink();
      await writeProfile('html', profile, sink, options, new Diagnostics());
      const data = readHtml(sink.bytes());
      return stackOf(data, 1).map(({ fullName, name }) => `${name} ${fullName}`);
    };
    expect(await namesOf({})).toEqual(['foo _Z3fooi', 'main main']);
    expect(await namesOf({ demangle: 'none' })).toEqual(['_Z3fooi _Z3fooi', 'main main']);
  });

  test('keeps merged recordings apart, by their processes', async () => {
    const single = buildProfile([{ timeNs: 0, stack: ['main'] }]);
    const profile = mergeProfiles(['a.data', 'b.data'].map((label) => ({ label, profile: single })));
    const data = readHtml(await pageOf(profile, { byInput: true }));
    expect([data.inputs, data.byInput, data.processes.map(({ input }) => input)]).toEqual([['a.data', 'b.data'], true, [0, 1]]);
    expect(data.totals).toHaveLength(2);
  });

  test('has all digits of large periods', async () => {
    const text = htmlText(await pageOf(buildProfile([2 ** 53, 1, 1].map((period, timeNs) => ({ timeNs, period, stack: ['main'] })))));
    expect(text).toContain('"period":[9007199254740994]');
  });

  test('adds up to what folded stacks have, event by event and function by function', async () => {
    const key = (name: string): string => name.replace(/\\n|[\s;:]/g, '');
    await fc.assert(
      fc.asyncProperty(randomProfile, async (profile) => {
        if (profile.events.every(({ samples }) => samples === 0)) return;
        const recording = await pageRecording(profile);
        for (const [event, { samples }] of profile.events.entries()) {
          if (samples === 0) continue;
          const sink = new BufferSink();
          await writeFolded(profile, sink, { event, marks: [] });
          const expected = new Map<string, number>();
          for (const line of sink.text().split('\n').slice(0, -1)) {
            const [, stack, weight] = /^(.*) (\d+)$/.exec(line)!;
            const leaf = key(stack.includes(';') ? stack.slice(stack.lastIndexOf(';') + 1) : '(no stack)');
            expected.set(leaf, (expected.get(leaf) ?? 0) + Number(weight));
          }
          const self = selfWeights(recording, { event, scope: { of: 'all' }, weight: 'period' });
          const weights = functionWeights(new CallTree(recording, totalWeights(recording, self)), self);
          const found = new Map<string, number>();
          recording.functions.forEach(({ name }, index) => {
            if (weights.self[index] > 0) found.set(key(name), (found.get(key(name)) ?? 0) + weights.self[index]);
          });
          for (const [name, weight] of expected) if (weight === 0) expected.delete(name);
          for (const [name, weight] of expected) expect((found.get(name) ?? 0) / weight, name).toBeCloseTo(1, 9);
          expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
        }
      }),
      { numRuns: runs(600, 60) },
    );
  });
});

describe('a page', () => {
  const EVIL = '</script><script>alert(1)</script><img src=x onerror=alert(2)>&lt;';
  const HOSTILE = [EVIL, '\u202egpj.exe', 'a\u2028b\u2029c\0d\n', 'raw \udcff\udc80', 'half \ud800', 'שלום', '__proto__', 'constructor'];
  const hostile = buildProfile(
    HOSTILE.map((name, timeNs) => ({ timeNs, pid: timeNs + 1, comm: name, process: name, event: name, stack: [{ name, dso: name, file: name, line: 1 }] })),
    { meta: { inputName: EVIL, commandLine: [EVIL, '\u202e'] } },
  );

  test('has no text of the recording outside its data, except the escaped title', async () => {
    const page = textOf(await pageOf(hostile));
    const plain = textOf(await pageOf(buildProfile([{ timeNs: 0, stack: ['main'] }])));
    const without = (text: string): string => text.replace(/(id="data">)[^<]*/, '$1').replace(/<title>[^<]*/, '<title>');
    expect(without(page)).toBe(without(plain));
    expect(/<title>(.*)<\/title>/.exec(page)?.[1]).toBe('&lt;/script>&lt;script>alert(1)&lt;/script>&lt;img src=x onerror=alert(2)>&amp;lt;');
  });

  test('has names as text that can be seen', async () => {
    const data = readHtml(await pageOf(hostile));
    const shown = [EVIL, '\\u202egpj.exe', 'a\\u2028b\\u2029c\\x00d\\n', 'raw \\xff\\x80', 'half \\ud800', 'שלום', '__proto__', 'constructor'];
    for (const list of [data.events, data.processes, data.threads]) expect(list.map(({ name }) => name)).toEqual(shown);
    expect(data.functions.name.map((name) => data.strings[name])).toEqual(shown);
    expect([data.name, data.command]).toEqual([EVIL, `${EVIL} \\u202e`]);
    expect(JSON.stringify(data)).not.toMatch(/[\u202a-\u202e\u2028\u2029]/);
  });

  test('allows nothing but its own script and style', async () => {
    const page = textOf(await pageOf(buildProfile([{ timeNs: 0, stack: ['main'] }])));
    const hashOf = (text = ''): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;
    const script = hashOf(/<script>(.*?)<\/script>/s.exec(page)?.[1]);
    const style = hashOf(/<style>(.*?)<\/style>/s.exec(page)?.[1]);
    const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(page)?.[1];
    expect(policy).toBe(`default-src 'none'; script-src '${script}'; style-src '${style}'; base-uri 'none'; form-action 'none'`);
    expect(page.indexOf('Content-Security-Policy')).toBeLessThan(page.indexOf('<title>'));
    // Files that it saves are in memory, and pictures among them name the language that they are in.
    const outside = page
      .replace(/id="data">[^<]*/, '')
      .replace('.href=URL.createObjectURL(', '')
      .replace('xmlns="http://www.w3.org/2000/svg"', '');
    expect(/\bhttps?:|\bsrc=|\bhref=|\beval\(|new Function|innerHTML|\son[a-z]+="/.exec(outside)?.[0]).toBeUndefined();
  });

  test('has no escape of half a surrogate pair, which Parcel turns into that half in a string', async () => {
    expect(textOf(await pageOf(buildProfile([{ timeNs: 0, stack: ['main'] }])))).not.toMatch(/\\ud[89a-f]/i);
  });

  test('is the same each time', async () => {
    expect(await pageOf(hostile)).toEqual(await pageOf(hostile));
  });

  test('is refused without samples', async () => {
    const empty: Profile = buildProfile([]);
    expect(await failure(pageOf(empty))).toEqual(['no-samples', 'no samples to write to a page']);
  });

  test('ends with the failure of its sink, wherever that happens', async () => {
    const size = (await pageOf(hostile)).length;
    for (const share of [0, 0.5, 0.99]) {
      let left = size * share;
      const full: ByteSink = {
        write: async (chunk) => {
          left -= chunk.length;
          if (left < 0) throw new Error('the disk is full');
        },
      };
      await expect(writeHtml(hostile, full, { exporter: 'x' })).rejects.toThrow('the disk is full');
    }
  });
});

test('base64 is the same however its bytes are divided', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 8 })), async (chunks) => {
      const sink = new BufferSink();
      const base64 = new Base64Sink(sink);
      for (const chunk of chunks) await base64.write(chunk);
      await base64.end();
      expect(sink.text()).toBe(Buffer.concat(chunks).toString('base64'));
    }),
  );
});
