import type { SwitchRecords } from '../builders/recordings/switch-recordings.ts';
import { type Decoded, decode, type PlainSample } from '../readers/decode.ts';

/** Nanoseconds of a millisecond, in which recordings of switches are written. */
export const MS = 1_000_000;
/** States of threads in `sched_switch`. */
export const S = 1;
export const D = 2;
export const R = 0;
export const PREEMPTED = 0x100;

export const OFF = { offCpu: true };
export const isWait = ({ event }: PlainSample): boolean => event.startsWith('off-cpu:');

/** The waits of a recording, as `101 sleeping 0x3065 20`: thread, state, address of the leaf, milliseconds. */
export function waitsOf({ samples, profile }: Decoded): string[] {
  return samples.filter(isWait).map(({ event, frames, period, tid }, i) => {
    const name = frames.length === 1 && frames[0].dso === undefined ? leafName(profile, i) : `0x${frames[0].address.toString(16)}`;
    return `${tid} ${event.slice('off-cpu:'.length)} ${name} ${period / MS}`;
  });
}

/** The name of the nth wait's leaf, a stand-in for an unknown place. */
function leafName({ events, functions, locations, samples, stacks, strings }: Decoded['profile'], nth: number): string {
  if (samples === undefined) return '';
  const rows = Array.from({ length: samples.size }, (_, row) => row).filter((row) => events[samples.event[row]].name.startsWith('off-cpu:'));
  const location = stacks.location(samples.stack[rows[nth]]);
  return strings.get(functions.name(locations.lineFunction(location, 0)));
}

export const findings = ({ diagnostics }: Decoded): string[] => diagnostics.list().map(({ code, count }) => `${code} ${count}`);
export const messageOf = ({ diagnostics }: Decoded, wanted: string): string | undefined => diagnostics.list().find(({ code }) => code === wanted)?.message;

export async function waits(recording: SwitchRecords, options = {}): Promise<string[]> {
  return waitsOf(await decode(recording.file(), { ...OFF, ...options }));
}
