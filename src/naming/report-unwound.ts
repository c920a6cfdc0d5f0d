import type { Diagnostics } from '../base/problems/diagnostics.ts';
import type { OptionWords } from '../base/problems/option-words.ts';
import { wordList } from '../base/text/word-list.ts';
import { baseName, isMadeAtRunTime } from '../profile/names.ts';
import type { Mapping, Profile } from '../profile/profile.ts';
import type { SessionResult } from '../session/session.ts';
import { MAX_DUMP_BYTES, type UnwindEnds } from '../session/unwinding/unwind-ends.ts';

/** The share of stacks that do not reach their start from which on a warning is given; fewer than this many samples never cause one. */
const NOTABLE_SHARE = 0.01;
const LEAST_SAMPLES = 10;
/** How many causes the sentence names. */
const SHOWN_CAUSES = 3;
/** How many files a cause names. */
const SHOWN_FILES = 2;
/** What helps if no dump is large enough. */
const FRAME_POINTERS = 'record with --call-graph fp what has frame pointers: Go, and code built with -fno-omit-frame-pointer';

/** Why stacks end too early, and what helps. */
interface Cause {
  readonly samples: number;
  /** `are cut off by the size of the stack dumps` */
  readonly what: string;
  readonly remedy: string;
}

/**
 * Reports how many of the stacks that were unwound do not reach the start of their thread (`truncated-stacks`), why, and what would help.
 * @param session what was recorded; its jitdump files by mapping
 */
export function reportUnwoundStacks(
  { mappings }: Pick<Profile, 'mappings'>,
  { events, jitDumps, unwindEnds: ends }: Pick<SessionResult, 'events' | 'jitDumps' | 'unwindEnds'>,
  diagnostics: Diagnostics,
): void {
  if (ends.cut === 0) return;
  // Of events with larger dumps, no stacks are cut off by these.
  const dumpBytes = ends.truncatedDumpBytes || Math.max(...events.filter(({ hasStackDumps }) => hasStackDumps).map(({ attr }) => attr.sampleStackUser));
  const areLargest = dumpBytes >= MAX_DUMP_BYTES;
  const causes = [
    {
      samples: ends.truncated + (areLargest ? ends.beyondLargest : 0),
      what: 'are cut off by the size of the stack dumps',
      remedy: areLargest ? `there are no larger ones: ${FRAME_POINTERS}` : largerDumps(dumpBytes),
    },
    { samples: areLargest ? 0 : ends.beyondLargest, what: 'continue beyond the largest dumps, as where local variables take 64 KB', remedy: FRAME_POINTERS },
    {
      samples: ends.outOfReach,
      what: "continue where no dump reaches: on another stack, as from Go's runtime or a signal handler that has its own, or beyond memory that was never touched",
      remedy: FRAME_POINTERS,
    },
    { samples: ends.withoutDump, what: 'have an empty dump: the stack was gone, as in execve and at the end of a process', remedy: '' },
    { samples: ends.withoutRegister, what: 'need registers that were not recorded', remedy: 'record without --user-regs' },
    {
      samples: ends.probed,
      what: 'end at probes, where the kernel replaces return addresses or runs an instruction elsewhere',
      remedy: 'record while no returns of functions are probed',
    },
    { samples: ends.broken, what: 'are broken', remedy: '' },
    { samples: ends.limit, what: 'have no end', remedy: '' },
    ...causesInFiles(mappings, jitDumps, ends, diagnostics.option),
  ].filter(({ samples }) => samples > 0);
  const isNotable = ends.cut >= LEAST_SAMPLES && ends.cut >= NOTABLE_SHARE * ends.all;
  const worst = causes
    .sort((a, b) => b.samples - a.samples)
    .slice(0, SHOWN_CAUSES)
    .map(({ samples, what, remedy }) => `${percent(samples, ends.all)} ${what}${remedy === '' ? '' : ` (${remedy})`}`);
  const message = `${percent(ends.cut, ends.all)} of the unwound stacks do not reach the start of their thread: ${worst.join('; ')}`;
  diagnostics.set('truncated-stacks', isNotable ? 'warning' : 'info', message);
}

/** Reports that stacks were not unwound because no files can be opened, and so no rules are known (`truncated-stacks`). */
export function reportNoFilesToUnwind({ unwindEnds: { cut, all } }: Pick<SessionResult, 'unwindEnds'>, diagnostics: Diagnostics): void {
  if (cut === 0) return;
  const why = `they are unwound with the binaries that ran, which only ${diagnostics.option('symbolFiles')} can open here`;
  diagnostics.set('truncated-stacks', 'warning', `${percent(cut, all)} of the recorded stacks do not reach the start of their thread: ${why}`);
}

/** `12 %`; below ten, `1.3 %`, so that the shares of the causes do not seem to miss half of the whole. */
function percent(part: number, all: number): string {
  const share = (100 * part) / all;
  return `${share < 0.05 ? 'fewer than 0.1' : share < 9.95 ? share.toFixed(1) : share.toFixed(0)} %`;
}

function largerDumps(dumpBytes: number): string {
  return `record with --call-graph dwarf,${Math.min(MAX_DUMP_BYTES, Math.max(8192, dumpBytes) * 2)}`;
}

/** The causes that are in files: one of each kind, which names the files in which most stacks end. */
function causesInFiles(mappings: Profile['mappings'], jitDumps: SessionResult['jitDumps'], { byFile }: UnwindEnds, option: OptionWords): Cause[] {
  const [withoutRule, absent, withoutCode] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  let [unmapped, madeAtRunTime] = [0, 0];
  for (const [file, { noRule, noModule }] of byFile) {
    const mapping: Mapping | undefined = mappings[file];
    const name = mapping === undefined ? 'an unknown file' : baseName(mapping.name);
    if (mapping !== undefined && (jitDumps.has(file) || isMadeAtRunTime(mapping))) {
      madeAtRunTime += noRule + noModule;
      continue;
    }
    add(withoutRule, name, noRule);
    if (mapping === undefined) unmapped += noModule;
    // These are not real return addresses, or the file is not the one that ran.
    else add(mapping.wasFound ? withoutCode : absent, name, noModule);
  }
  return [
    inFiles(withoutRule, (files, areSeveral) =>
      areSeveral
        ? {
            what: `end in ${files}, which do not say how their code is unwound`,
            remedy: 'install their debug packages, or build them with -fasynchronous-unwind-tables',
          }
        : {
            what: `end in ${files}, which does not say how its code is unwound`,
            remedy: 'install its debug package, or build it with -fasynchronous-unwind-tables',
          },
    ),
    inFiles(absent, (files, areSeveral) => ({
      what: `end in ${files}, which ${areSeveral ? 'were not found, or are not ELF files' : 'was not found, or is not an ELF file'}`,
      remedy: `${option('symfs')} and ${option('debuginfod')} say where to look`,
    })),
    inFiles(withoutCode, (files, areSeveral) => ({
      what: `lead to places in ${files} where the ${areSeveral ? 'files have' : 'file has'} no code`,
      remedy: '',
    })),
    {
      samples: madeAtRunTime,
      what: 'end in code that was made at run time',
      remedy:
        'have the JIT compiler keep frame pointers, as java -XX:+PreserveFramePointer does, or write a jitdump file for perf record -k mono, as python -X perf_jit and java -agentpath:libperf-jvmti.so do',
    },
    { samples: unmapped, what: 'end where the recording does not say what was mapped', remedy: '' },
  ];
}

function add(samplesOf: Map<string, number>, name: string, samples: number): void {
  if (samples > 0) samplesOf.set(name, (samplesOf.get(name) ?? 0) + samples);
}

/** @param say puts the names of the files into words, the one with the most samples first */
function inFiles(samplesOf: ReadonlyMap<string, number>, say: (files: string, areSeveral: boolean) => Omit<Cause, 'samples'>): Cause {
  const names = [...samplesOf].sort(([, a], [, b]) => b - a).map(([name]) => name);
  const samples = [...samplesOf.values()].reduce((sum, of) => sum + of, 0);
  return { samples, ...say(wordList(names, SHOWN_FILES), names.length > 1) };
}
