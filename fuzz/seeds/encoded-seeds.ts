import { gzipSync } from 'node:zlib';
import { controlNames } from '../../test/support/builders/recordings/control-names.ts';
import { encodeFile, encodePipe, toolRecords } from '../../test/support/builders/recordings/perf-encoder.ts';
import { perfOffCpuTimes, switches } from '../../test/support/builders/recordings/switch-recordings.ts';
import { rawZstdFrame } from '../zstd-frame.ts';
import { forkingProcesses } from './forking-processes.ts';
import { jitSeeds } from './jit-recording.ts';
import { longNames } from './long-names.ts';
import { oddTimes } from './odd-times.ts';
import { packedBomb } from './packed-bombs.ts';
import { ATTRS, RICH } from './rich-recording.ts';
import { type Seed, type SeedKind, SINGLE_FILE } from './seed.ts';
import { armSpe, compressed, directory, hiperf, hostile, LEAN, simpleperf, TRACEPOINT_SEEDS, tracepoints, trulyCompressed } from './special-recordings.ts';
import { symbolSeeds } from './symbol-seeds.ts';
import { unwindSeeds } from './unwind-seeds.ts';

const single = (kind: SeedKind, name: string, bytes: Uint8Array): Seed => ({ kind, name, files: new Map([[SINGLE_FILE, bytes]]) });

/**
 * Seeds of every kind, made by the tests' encoder, and symbol files from the fixtures. None was recorded on a machine.
 */
export function encodedSeeds(): Seed[] {
  const oldNames = ATTRS.map(({ config = 0n, name = '' }) => ({ config, name }));
  const old = { ...RICH, version: 1 as const, attrSize: 64, eventTypes: oldNames };
  const piped = tracepoints('little', 1);
  return [
    single('file', 'rich', encodeFile(RICH)),
    single('file', 'lean', encodeFile(LEAN)),
    single('file', 'unfinished', encodeFile({ ...RICH, unfinished: true })),
    single('file', 'attr-136', encodeFile({ ...RICH, attrSize: 136 })),
    single('pipe', 'rich', encodePipe(RICH)),
    single('pipe', 'lean', encodePipe(LEAN)),
    { kind: 'directory', name: 'threads', files: directory() },
    single('compressed', 'raw-81', encodeFile(compressed(81))),
    single('compressed', 'raw-83', encodeFile(compressed(83))),
    single('compressed', 'raw-81-pipe', encodePipe(compressed(81))),
    single('compressed', 'zstd', encodeFile(trulyCompressed())),
    single('simpleperf', 'everything', encodeFile(simpleperf())),
    single('simpleperf', 'hiperf', encodeFile(hiperf())),
    single('big-endian', 'file', encodeFile({ ...RICH, byteOrder: 'big' })),
    single('big-endian', 'pipe', encodePipe({ ...RICH, byteOrder: 'big' })),
    single('v1', 'file', encodeFile(old)),
    single('v1', 'oldest', encodeFile({ ...old, features: {}, withoutFeatureBitmap: true })),
    ...Array.from({ length: TRACEPOINT_SEEDS }, (_, nth) => single('tracepoint', `file-${nth}`, encodeFile(tracepoints('little', nth)))),
    single('tracepoint', 'pipe', encodePipe({ ...piped, features: {}, records: [toolRecords.tracingData(piped.features!.tracingData!), ...piped.records] })),
    single('tracepoint', 'big-endian', encodeFile(tracepoints('big', 0))),
    single('names', 'file', encodeFile(hostile())),
    single('names', 'pipe', encodePipe(hostile())),
    single('traces', 'file', encodeFile(armSpe())),
    single('traces', 'pipe', encodePipe(armSpe())),
    ...jitSeeds(),
    ...symbolSeeds(),
    ...unwindSeeds(),
    single('wrapped', 'gzip', new Uint8Array(gzipSync(encodeFile(LEAN)))),
    single('wrapped', 'zstd', rawZstdFrame(encodeFile(LEAN))),
    single('wrapped', 'zstd-pipe', rawZstdFrame(encodePipe(LEAN))),
    { ...single('long-names', 'grown', encodeFile(LEAN)), grow: longNames },
    { ...single('forks', 'grown', encodeFile(LEAN)), grow: forkingProcesses },
    { ...single('bombs', 'grown', rawZstdFrame(encodeFile(LEAN))), grow: packedBomb },
    { ...single('times', 'grown', encodeFile(LEAN)), grow: oddTimes },
    single('times', 'simpleperf', encodeFile(simpleperf())),
    single('times', 'switches', encodeFile(switches().spec())),
    single('times', 'switches-pipe', encodePipe(switches().spec())),
    single('times', 'off-cpu', perfOffCpuTimes()),
    single('terminals', 'file', encodeFile(controlNames())),
    single('terminals', 'pipe', encodePipe(controlNames())),
    { kind: 'outputs', name: 'threads', files: directory() },
    single('outputs', 'file', encodeFile(LEAN)),
    ...(['full-disk', 'signals'] as const).flatMap((kind) => [
      single(kind, 'rich', encodeFile(RICH)),
      { ...single(kind, 'grown', encodeFile(LEAN)), grow: oddTimes },
    ]),
  ];
}
