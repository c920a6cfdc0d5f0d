import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { type ReadProfileOptions, type ReadProfileResult, readProfile } from '../../../src/pipeline/read-profile.ts';
import { locationsOf } from './locations-of.ts';

/** A decoded frame in plain values. */
export interface PlainFrame {
  /** Name of the mapping; undefined if there is none. */
  readonly dso: string | undefined;
  /** All 64 bits: the address in the DSO, or the run-time address. */
  readonly address: bigint;
  readonly isReturnAddress: boolean;
  readonly cpumode: number;
}

/** A decoded sample in plain values. */
export interface PlainSample {
  readonly event: string;
  readonly pid: number;
  readonly tid: number;
  readonly comm: string;
  /** The recording's own time; undefined if there is none. */
  readonly time: bigint | undefined;
  readonly cpu: number;
  readonly period: number;
  /** Leaf first. */
  readonly frames: readonly PlainFrame[];
}

export interface Decoded extends ReadProfileResult {
  readonly samples: readonly PlainSample[];
  readonly diagnostics: Diagnostics;
}

/** Decodes a recording in memory, and its samples into plain values, in the order in which they were delivered. */
export async function decode(bytes: Uint8Array, options: ReadProfileOptions = {}): Promise<Decoded> {
  const diagnostics = new Diagnostics();
  const result = await readProfile(new BufferSource(bytes, 'test.data'), { keepSamples: true, ...options }, diagnostics);
  return { ...result, diagnostics, samples: plainSamples(result) };
}

function plainSamples({ profile }: ReadProfileResult): PlainSample[] {
  const { samples, stacks, locations, tasks, threads, events, mappings, meta } = profile;
  if (samples === undefined) return [];
  return Array.from({ length: samples.size }, (_, row) => {
    const task = tasks[samples.task[row]];
    const thread = threads[task.thread];
    const timeNs = samples.timeNs[row];
    return {
      event: events[samples.event[row]].name,
      pid: thread.pid,
      tid: thread.tid,
      comm: task.comm,
      time: Number.isNaN(timeNs) ? undefined : meta.startTime + BigInt(timeNs),
      cpu: samples.cpu[row],
      period: samples.period[row],
      frames: locationsOf(stacks, samples.stack[row]).map((location) => ({
        dso: mappings[locations.mapping(location)]?.name,
        address: (BigInt(locations.addressHi(location)) << 32n) | BigInt(locations.addressLo(location)),
        isReturnAddress: locations.isReturnAddress(location),
        cpumode: locations.cpumode(location),
      })),
    };
  });
}
