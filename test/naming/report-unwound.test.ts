import { expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import type { JitDump } from '../../src/jitdump/jitdump.ts';
import { reportUnwoundStacks } from '../../src/naming/report-unwound.ts';
import type { Mapping } from '../../src/profile/profile.ts';
import type { SessionEvent } from '../../src/session/events/session-event.ts';
import { UnwindEnds } from '../../src/session/unwinding/unwind-ends.ts';
import type { UnwindEnd } from '../../src/unwind/unwinder.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';

const MAPPINGS = ['/opt/app', '/lib/libasm.so', '/tmp/perf-7.map', '/lib/ld.so', '/tmp/jit-7.dump', '/tmp/jitted-7-1.so'].map((name): Mapping => {
  const kind = name.startsWith('/tmp/perf-') ? 'anon' : 'file';
  return { name, kind, buildId: '', bias: 0, start: 0, limit: 1, hasSymbols: false, wasFound: name === '/lib/ld.so' };
});

/** @param ends how many samples end in each way, and in which file */
function said(ends: readonly (readonly [count: number, end: UnwindEnd, file?: number, stackOffset?: number])[], sampleStackUser = 8192): string[] {
  const counts = new UnwindEnds();
  for (const [count, end, file = 0, stackOffset = 10_000] of ends) for (let i = 0; i < count; i++) counts.add(end, file, sampleStackUser, stackOffset);
  const events = [
    { hasStackDumps: true, attr: { sampleStackUser } },
    { hasStackDumps: false, attr: { sampleStackUser: 0 } },
  ] as unknown as SessionEvent[];
  const diagnostics = new Diagnostics();
  const jitDumps = new Map([[4, {} as JitDump]]);
  reportUnwoundStacks({ ...buildProfile([{ timeNs: 0, stack: [] }]), mappings: MAPPINGS }, { events, jitDumps, unwindEnds: counts }, diagnostics);
  return diagnostics
    .list()
    .map(({ severity, message }) => `${severity}: ${message.replace('of the unwound stacks do not reach the start of their thread', '…')}`);
}

test('a summary of unwound stacks names the kernel as the one that hides callers with its probes', () => {
  const ends = new UnwindEnds();
  ends.complete = 80;
  ends.probed = 20;
  const diagnostics = new Diagnostics();
  const events = [{ hasStackDumps: true, attr: { sampleStackUser: 8192 } }] as unknown as SessionEvent[];
  reportUnwoundStacks({ mappings: MAPPINGS }, { events, jitDumps: new Map(), unwindEnds: ends }, diagnostics);
  expect(diagnostics.list().map(({ message }) => message)).toEqual([
    '20 % of the unwound stacks do not reach the start of their thread: 20 % end at probes, where the kernel replaces return addresses or runs an instruction elsewhere (record while no returns of functions are probed)',
  ]);
});

test('a summary of unwound stacks tells of those that were gone', () => {
  const ends = new UnwindEnds();
  for (let i = 0; i < 20; i++) ends.add('truncated', 0, 8192, undefined, true);
  ends.complete = 80;
  const diagnostics = new Diagnostics();
  const events = [{ hasStackDumps: true, attr: { sampleStackUser: 8192 } }] as unknown as SessionEvent[];
  reportUnwoundStacks({ mappings: MAPPINGS }, { events, jitDumps: new Map(), unwindEnds: ends }, diagnostics);
  expect(diagnostics.list().map(({ message }) => message)).toEqual([
    '20 % of the unwound stacks do not reach the start of their thread: 20 % have an empty dump: the stack was gone, as in execve and at the end of a process',
  ]);
});

test('a summary of unwound stacks proposes a size above that of the dumps which were too small, whatever others the recording has', () => {
  const ends = new UnwindEnds();
  for (const dumpBytes of [1024, 16_384, 4096]) ends.add('truncated', 0, dumpBytes, 20_000);
  ends.add('complete', 0, 65_528);
  const diagnostics = new Diagnostics();
  const events = [65_528, 1024].map((sampleStackUser) => ({ hasStackDumps: true, attr: { sampleStackUser } })) as unknown as SessionEvent[];
  reportUnwoundStacks({ mappings: MAPPINGS }, { events, jitDumps: new Map(), unwindEnds: ends }, diagnostics);
  expect(diagnostics.list().map(({ message }) => message)).toEqual([expect.stringMatching(/ \(record with --call-graph dwarf,32768\)$/)]);
});

test.each<[string, Parameters<typeof said>, string[]]>([
  ['nothing about complete stacks', [[[1000, 'complete']]], []],
  [
    'shares that add up',
    [
      [
        [984, 'complete'],
        [15, 'truncated'],
        [1, 'bad-frame'],
      ],
    ],
    ['warning: 1.6 % …: 1.5 % are cut off by the size of the stack dumps (record with --call-graph dwarf,16384); 0.1 % are broken'],
  ],
  [
    'which size of dumps would suffice',
    [
      [
        [80, 'complete'],
        [20, 'truncated'],
      ],
    ],
    ['warning: 20 % …: 20 % are cut off by the size of the stack dumps (record with --call-graph dwarf,16384)'],
  ],
  [
    'that dumps do not reach other stacks',
    [
      [
        [80, 'complete'],
        [15, 'truncated', 0, Number.POSITIVE_INFINITY],
        [5, 'truncated', 0, -4096],
      ],
    ],
    [
      "warning: 20 % …: 20 % continue where no dump reaches: on another stack, as from Go's runtime or a signal handler that has its own, or beyond memory that was never touched (record with --call-graph fp what has frame pointers: Go, and code built with -fno-omit-frame-pointer)",
    ],
  ],
  [
    'that there are no larger dumps',
    [
      [
        [80, 'complete'],
        [20, 'truncated'],
      ],
      65_528,
    ],
    [
      'warning: 20 % …: 20 % are cut off by the size of the stack dumps (there are no larger ones: record with --call-graph fp what has frame pointers: Go, and code built with -fno-omit-frame-pointer)',
    ],
  ],
  [
    'the same if stacks go on only a little beyond the largest dumps',
    [
      [
        [80, 'complete'],
        [15, 'truncated', 0, 65_300],
        [5, 'truncated', 0, 65_600],
      ],
      65_528,
    ],
    [
      'warning: 20 % …: 20 % are cut off by the size of the stack dumps (there are no larger ones: record with --call-graph fp what has frame pointers: Go, and code built with -fno-omit-frame-pointer)',
    ],
  ],
  [
    'that local variables may be larger than the largest dumps',
    [
      [
        [80, 'complete'],
        [20, 'truncated', 0, 100_000],
      ],
    ],
    [
      'warning: 20 % …: 20 % continue beyond the largest dumps, as where local variables take 64 KB (record with --call-graph fp what has frame pointers: Go, and code built with -fno-omit-frame-pointer)',
    ],
  ],
  [
    'that registers were left out',
    [
      [
        [80, 'complete'],
        [15, 'no-registers'],
        [5, 'truncated'],
      ],
    ],
    [
      'warning: 20 % …: 15 % need registers that were not recorded (record without --user-regs); 5.0 % are cut off by the size of the stack dumps (record with --call-graph dwarf,16384)',
    ],
  ],
  [
    'the largest size if less is not enough',
    [
      [
        [80, 'complete'],
        [20, 'truncated'],
      ],
      40_000,
    ],
    ['warning: 20 % …: 20 % are cut off by the size of the stack dumps (record with --call-graph dwarf,65528)'],
  ],
  [
    'each cause only once',
    [
      [
        [80, 'complete'],
        [12, 'no-module', 2],
        [8, 'no-module', 2],
      ],
    ],
    [
      'warning: 20 % …: 20 % end in code that was made at run time (have the JIT compiler keep frame pointers, as java -XX:+PreserveFramePointer does, or write a jitdump file for perf record -k mono, as python -X perf_jit and java -agentpath:libperf-jvmti.so do)',
    ],
  ],
  [
    'that code was made at run time if a jitdump file names it, but does not say how to unwind it',
    [
      [
        [80, 'complete'],
        [20, 'no-module', 4],
      ],
    ],
    [
      'warning: 20 % …: 20 % end in code that was made at run time (have the JIT compiler keep frame pointers, as java -XX:+PreserveFramePointer does, or write a jitdump file for perf record -k mono, as python -X perf_jit and java -agentpath:libperf-jvmti.so do)',
    ],
  ],
  [
    'that code was made at run time if it is in a file that perf inject made of it',
    [
      [
        [80, 'complete'],
        [15, 'no-module', 5],
        [5, 'no-rule', 5],
      ],
    ],
    [
      'warning: 20 % …: 20 % end in code that was made at run time (have the JIT compiler keep frame pointers, as java -XX:+PreserveFramePointer does, or write a jitdump file for perf record -k mono, as python -X perf_jit and java -agentpath:libperf-jvmti.so do)',
    ],
  ],
  [
    'that stacks end where nothing is known to be mapped',
    [
      [
        [80, 'complete'],
        [20, 'no-module', -1],
      ],
    ],
    ['warning: 20 % …: 20 % end where the recording does not say what was mapped'],
  ],
  [
    'which files have the most samples among those that lack the same',
    [
      [
        [40, 'complete'],
        [10, 'no-rule', 0],
        [20, 'no-rule', 1],
        [10, 'no-rule', 3],
        [9, 'no-module', 0],
        [11, 'no-module', 1],
      ],
    ],
    [
      'warning: 60 % …: 40 % end in libasm.so, app and 1 other, which do not say how their code is unwound (install their debug packages, or build them with -fasynchronous-unwind-tables); 20 % end in libasm.so and app, which were not found, or are not ELF files (option symfs and option debuginfod say where to look)',
    ],
  ],
  [
    'that files were found but have no code there',
    [
      [
        [80, 'complete'],
        [20, 'no-module', 3],
      ],
    ],
    ['warning: 20 % …: 20 % lead to places in ld.so where the file has no code'],
  ],
  [
    'which files lack what, the worst first',
    [
      [
        [60, 'complete'],
        [10, 'no-rule', 1],
        [20, 'no-module', 0],
        [7, 'no-module', 2],
        [2, 'bad-frame'],
        [1, 'unmapped'],
      ],
    ],
    [
      'warning: 40 % …: 20 % end in app, which was not found, or is not an ELF file (option symfs and option debuginfod say where to look); 10 % end in libasm.so, which does not say how its code is unwound (install its debug package, or build it with -fasynchronous-unwind-tables); 7.0 % end in code that was made at run time (have the JIT compiler keep frame pointers, as java -XX:+PreserveFramePointer does, or write a jitdump file for perf record -k mono, as python -X perf_jit and java -agentpath:libperf-jvmti.so do)',
    ],
  ],
  [
    'it as a note if few stacks are affected',
    [
      [
        [10_000, 'complete'],
        [12, 'bad-frame'],
      ],
    ],
    ['info: 0.1 % …: 0.1 % are broken'],
  ],
  [
    'it as a note if hardly any stacks are affected',
    [
      [
        [100_000, 'complete'],
        [12, 'bad-frame'],
      ],
    ],
    ['info: fewer than 0.1 % …: fewer than 0.1 % are broken'],
  ],
])('unwound stacks: the report says %s', (_, args, expected) => {
  expect(said(...args)).toEqual(expected);
});
