import { describe, expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { reportStackQuality } from '../../src/naming/report-stacks.ts';
import { isCLibrary, stackQuality } from '../../src/naming/stack-quality.ts';
import { isStartFunction } from '../../src/naming/start-functions.ts';
import { CPUMODE_KERNEL, CPUMODE_USER } from '../../src/profile/location-table.ts';
import type { Mapping, Profile } from '../../src/profile/profile.ts';
import { TotalTable } from '../../src/profile/total-table.ts';
import type { SessionEvent } from '../../src/session/events/session-event.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';

const NAMES = [
  '/opt/app',
  '/usr/lib/x86_64-linux-gnu/libc.so.6',
  '/lib64/ld-linux-x86-64.so.2',
  '/tmp/perf-7.map',
  '/usr/lib/jvm/lib/server/libjvm.so',
  '/usr/bin/python3.11',
];
type Binary = 'app' | 'libc' | 'ld' | 'jit' | 'jvm' | 'python';
const INDEX: Record<Binary, number> = { app: 0, libc: 1, ld: 2, jit: 3, jvm: 4, python: 5 };

/** `app:main`, `app` without a name, `kernel`, or `0x0`, an address in no mapping. */
type Frame = string;

/** A profile of stacks, leaf first, with the number of samples of each. */
function profileOf(stacks: readonly (readonly [samples: number, ...frames: Frame[]])[], used = NAMES): Profile {
  const profile = buildProfile([{ timeNs: 0, stack: [] }]);
  const { functions, locations, strings } = profile;
  const totals = new TotalTable();
  const places = new Map<string, number>();
  for (const [samples, ...frames] of stacks) {
    let stack = -1;
    for (const [depth, frame] of [...frames.entries()].reverse()) {
      const isCaller = depth > 0 && frames[depth - 1] !== 'kernel';
      let location: number;
      if (frame.startsWith('0x')) {
        const address = BigInt(frame);
        location = locations.intern(-1, Number(address & 0xffffffffn), Number(address >> 32n), CPUMODE_USER, isCaller);
      } else if (frame === 'kernel') {
        location = locations.intern(-1, 0x1000, 0xffffffff, CPUMODE_KERNEL, false);
      } else {
        const [binary, name] = frame.split(':');
        const address = places.get(frame) ?? places.size * 16 + 0x1000;
        places.set(frame, address);
        location = locations.intern(INDEX[binary as Binary], address, 0, CPUMODE_USER, isCaller);
        if (name !== undefined && !/^\d/.test(name))
          locations.setLines(location, [{ function: functions.intern(strings.intern(name)), line: 0, column: 0, file: 0 }], 4);
      }
      stack = profile.stacks.intern(stack, location);
    }
    totals.addSums(totals.intern(0, 0, stack), samples, samples);
  }
  const kindOf = (name: string): Mapping['kind'] => (name.startsWith('/tmp/') ? 'anon' : 'file');
  const mappings = used.map((name): Mapping => ({ name, kind: kindOf(name), buildId: '', bias: 0, start: 0, limit: 1 << 20, hasSymbols: false }));
  return { ...profile, mappings, totals };
}

function broken(...stacks: readonly (readonly [samples: number, ...frames: Frame[]])[]): string {
  const { samples, broken: sum, binaries } = stackQuality(profileOf(stacks), [true]);
  return [`${sum}/${samples}`, ...binaries.map((row) => `${row.mapping.name.replace(/^.*\//, '')} ${row.broken}/${row.samples}`)].join(' ');
}

const GARBAGE = '0x8b4828ec83485354';
const HEAP = '0x55550000';

describe('stacks', () => {
  test.each<[string, string, readonly Frame[]]>([
    ['reach the start of the program', '0/10', ['app:f', 'app:main', 'libc:__libc_start_call_main']],
    ['go on after the start of the program by chance', '0/10', ['app:f', 'app:main', 'libc:__libc_start_call_main', 'app:register_tm_clones', GARBAGE]],
    ['reach the start of a thread', '0/10', ['app:f', 'libc:start_thread', HEAP]],
    ['consist only of a start function', '0/10', ['libc:__clone3']],
    ['consist of the kernel and the start of a program', '0/10', ['kernel', 'kernel', 'ld:_start']],
    ['reach nameless code of the C library that called them', '0/10', ['app:f', 'app:main', 'libc', GARBAGE]],
    ['end by themselves after some frames', '0/10', ['app:f', 'app:g']],
    ['end in zeros after some frames', '0/10', ['app:f', 'app:g', '0x0']],
    ["are Go's", '0/10', ['app:main.f', 'app:runtime.goexit.abi0']],
    ['are only of the kernel', '0/0', ['kernel', 'kernel']],
    ['begin outside code', '0/0', [HEAP, 'app:main']],
  ])('are whole if they %s', (_, expected, frames) => {
    expect(broken([10, ...frames])).toBe(expected);
  });

  test.each<[string, string, readonly Frame[]]>([
    ['are one frame', '10/10 app 10/10', ['app:f']],
    ['are one frame and the kernel', '10/10 libc.so.6 10/10', ['kernel', 'libc:read']],
    ['are one frame and zeros', '10/10 app 10/10', ['app:f', '0x0']],
    ['lead to where no program has code', '10/10 app 10/10', ['app:f', 'app:g', GARBAGE]],
    ['lead to the heap', '10/10 app 10/10', ['libc:malloc', 'app:g', HEAP, 'app:main']],
    ['break in the C library', '10/10 libc.so.6 10/10', ['libc', 'libc:2', GARBAGE]],
    ['break after libc code that starts nothing', '10/10 libc.so.6 10/10', ['app:cmp', 'libc:qsort', GARBAGE]],
  ])('are broken if they %s', (_, expected, frames) => {
    expect(broken([10, ...frames])).toBe(expected);
  });

  test('do not count if they are in the dynamic loader of a starting process', () => {
    expect(broken([10, 'ld:_dl_relocate_object', GARBAGE])).toBe('0/10');
  });

  test('are whole if most end in the same place deep down, even if garbage follows and nothing has a name', () => {
    expect(broken([60, 'app:1', 'app:2', 'app:3', GARBAGE], [30, 'app:4', 'app:2', 'app:3', HEAP], [10, 'app:5'])).toBe('10/100 app 10/100');
    expect(broken([60, 'app:1', 'app:3', GARBAGE], [30, 'app:4', 'app:3', HEAP], [10, 'app:5'])).toBe('100/100 app 100/100');
  });

  test('count once for each of their binaries', () => {
    expect(broken([10, 'libc:malloc', 'app:g', GARBAGE], [5, 'libc:read'], [2, 'app:f', 'app:g', 'app:f'])).toBe('15/17 app 10/12 libc.so.6 5/15');
  });
});

describe('start functions', () => {
  test.each(['_start', '__libc_start_main@@GLIBC_2.34', '__GI___clone3', '__clone', 'clone3', 'runtime.goexit', 'runtime.rt0_go.abi0', '_rt0_amd64_linux'])(
    'include %s',
    (name) => {
      expect(isStartFunction(name)).toBe(true);
    },
  );
  test.each(['start', 'main', 'clone_tree', '_startup', '', 'runtime.goexit0', '@', '__GI_'])('do not include %j', (name) => {
    expect(isStartFunction(name)).toBe(false);
  });
});

test.each([
  ['/lib/x86_64-linux-gnu/libc.so.6', true],
  ['/lib/x86_64-linux-gnu/libc-2.31.so', true],
  ['/lib/libpthread-2.31.so', true],
  ['/lib/ld-musl-x86_64.so.1', true],
  ['/lib/libc.musl-x86_64.so.1', true],
  ['/apex/com.android.runtime/lib64/bionic/libc.so', true],
  ['/lib/libcrypto.so.3', false],
  ['/opt/libc', false],
  ['/lib64/ld-linux-x86-64.so.2', false],
])('whether %s is the C library: %s', (name, expected) => {
  expect(isCLibrary({ ...profileOf([]).mappings[0], name })).toBe(expected);
});

describe('broken stacks', () => {
  const layout = { hasCallchain: true };
  const attr = { sampleType: 0, branchSampleType: 0, flags: new Set() };

  function said(profile: Profile, event: object = {}): string[] {
    const diagnostics = new Diagnostics();
    reportStackQuality(profile, [{ attr, layout, hasStackDumps: false, ...event } as unknown as SessionEvent], diagnostics);
    return diagnostics.list().map(({ code, severity, message }) => `${severity} ${code}: ${message}`);
  }
  const FINE = ['app:f', 'app:main', 'libc:__libc_start_call_main'] as const;

  test('are reported with the remedy', () => {
    expect(
      said(
        profileOf(
          [
            [43, 'app:f'],
            [57, ...FINE],
          ],
          NAMES.slice(0, 3),
        ),
      ),
    ).toEqual([
      'warning broken-stacks: 43 % of the samples of app have broken stacks: build all of app, and what calls it, with -fno-omit-frame-pointer (Rust: -C force-frame-pointers=yes), or record with --call-graph dwarf',
    ]);
  });

  test.each<[string, readonly Frame[], string]>([
    ['Java', ['jit:1'], '100 % of the samples of perf-7.map have broken stacks: run Java with -XX:+PreserveFramePointer, or record'],
    ['Python', ['python:f'], '100 % of the samples of python3.11 have broken stacks: run a Python that was built with -fno-omit-frame-pointer, or record'],
    ['the C library', ['libc:read'], '100 % of the samples of libc.so.6 have broken stacks: libc.so.6 has no frame pointers: record'],
  ])('of %s have their own remedy', (_, frames, expected) => {
    expect(said(profileOf([[20, ...frames]]))).toEqual([`warning broken-stacks: ${expected} with --call-graph dwarf`]);
  });

  test('include those that end in a function of the C library that starts nothing', () => {
    const inSort: [number, ...Frame[]] = [60, 'app:compare', 'libc:msort_with_tmp'];
    expect(broken(inSort, [40, ...FINE])).toBe('60/100 libc.so.6 60/100');
    expect(said(profileOf([inSort, [40, ...FINE]]))[0]).toContain('60 % of the samples of libc.so.6 have broken stacks');
    expect(broken([60, 'app:compare', 'libc:__libc_start_call_main'])).toBe('0/60');
  });

  test('are attributed to a library that nobody builds for a profile, but the advice is for the program', () => {
    const used = NAMES.with(INDEX.python, '/usr/lib/x86_64-linux-gnu/libm.so.6');
    const stacks: [number, ...Frame[]][] = [
      [60, 'python:sin'],
      [40, 'app:f'],
    ];
    expect(said(profileOf(stacks, used))[0]).toMatch(/: 100 % of the samples of libm.so.6 and 100 % of those of app have broken stacks: build app with /);
    expect(said(profileOf(stacks.slice(0, 1), used))[0]).toContain('have broken stacks: libm.so.6 has no frame pointers: record');
  });

  test('are not reported for a binary that has hardly any', () => {
    const stacks: [number, ...Frame[]][] = [
      [60, 'libc:read'],
      [2, 'app:f'],
      [200, ...FINE],
    ];
    expect(said(profileOf(stacks))[0]).toMatch(/: \d+ % of the samples of libc\.so\.6 have broken stacks: libc\.so\.6 has no frame pointers: record/);
  });

  test('are none if user callers were left out of the callchains', () => {
    expect(said(profileOf([[20, 'app:f']]), { attr: { ...attr, flags: new Set(['exclude_callchain_user']) } })).toEqual([]);
  });

  test('are those of the named events if others were unwound or have no callers', () => {
    const profile = profileOf([[20, 'app:f']]);
    const [first] = profile.events;
    const named = { ...profile, events: ['page-faults', 'cpu-clock', 'cs'].map((name) => ({ ...first, name, samples: 20, hasCallchain: name !== 'cs' })) };
    const events = [
      { layout, hasStackDumps: false },
      { layout, hasStackDumps: true },
      { layout: { hasCallchain: false }, hasStackDumps: false },
    ].map((event) => ({ attr, ...event }) as unknown as SessionEvent);
    const diagnostics = new Diagnostics();
    reportStackQuality(named, events, diagnostics);
    expect(diagnostics.list().map(({ message }) => message)).toEqual([
      'cs: the samples have no callers: record with -g',
      expect.stringMatching(/^page-faults: 100 % of the samples of app have broken stacks: build app /),
    ]);
  });

  test('of several binaries are reported together', () => {
    const [message] = said(
      profileOf(
        [
          [20, 'app:f'],
          [60, 'python:f'],
          [20, 'python:f', 'python:g'],
        ],
        NAMES,
      ),
    );
    expect(message).toContain(': 75 % of the samples of python3.11 and 100 % of those of app have broken stacks: run a Python');
  });

  test.each<[string, readonly (readonly [number, ...Frame[]])[]]>([
    ['few samples', [[9, 'app:f']]],
    [
      'few of all samples',
      [
        [48, 'python:f'],
        [1000, ...FINE],
      ],
    ],
    [
      'few of the binary',
      [
        [90, 'app:f'],
        [1000, ...FINE],
      ],
    ],
    [
      'no more in the C library than with frame pointers',
      [
        [190, 'libc:malloc'],
        [1000, ...FINE],
      ],
    ],
  ])('are not reported if there are %s', (_, stacks) => {
    expect(said(profileOf(stacks))).toEqual([]);
  });

  test.each([
    ['stack dumps were recorded', { hasStackDumps: true }],
    ['stacks were recorded as branches', { hasBranchCallStacks: true }],
  ])('are not looked for if %s', (_, event) => {
    expect(said(profileOf([[100, 'app:f']]), event)).toEqual([]);
  });

  test('are not the same as no stacks at all, which are noted', () => {
    const profile = profileOf([[100, 'app:f']]);
    const events = profile.events.map((event) => ({ ...event, samples: 100, hasCallchain: false }));
    expect(said({ ...profile, events }, { layout: { hasCallchain: false } })).toEqual([
      'info no-callchains: cpu-clock: the samples have no callers: record with -g',
    ]);
    expect(said({ ...profile, events: events.map((event) => ({ ...event, isTracepoint: true })) }, { layout: { hasCallchain: false } })).toEqual([]);
  });
});
