import { openSync, writeSync } from 'node:fs';
import type { SeedKind } from '../seeds/seed.ts';
import { collectSeeds } from '../seeds/seeds.ts';
import { anyPollution, watchAllocations } from '../target/guards.ts';
import { Target } from '../target/target.ts';
import { Campaign } from './campaign.ts';
import { allowedCpuMs, type FromChild, MAX_RESIDENT_BYTES, type RunTask, type ToChild, type TryTask } from './messages.ts';

// The process that reads inputs, so that an input which hangs or uses up all memory harms nothing else. It writes the
// index of the current input to a file, because a process that hangs sends no messages.

const PROGRESS_MS = 1000;
const TOOK_TOO_LONG = 'took more than 2 s of CPU time for each megabyte';

watchAllocations();
const target = new Target({ isTimed: true });
/** Error of a promise that nothing awaits. */
let unhandled: unknown;
process.on('unhandledRejection', (error) => (unhandled ??= error));
process.on('uncaughtException', (error) => (unhandled ??= error));
process.on('disconnect', () => {
  target.close();
  process.exit();
});
process.on('message', (task: ToChild) => void (task.type === 'run' ? run(task) : tryOne(task)));

function send(message: FromChild): void {
  process.send?.(message);
}

function hasTooMuchMemory(): boolean {
  return process.resourceUsage().maxRSS * 1024 > MAX_RESIDENT_BYTES;
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

async function tryOne({ files, plan }: TryTask): Promise<void> {
  const allowedMs = allowedCpuMs(files, plan);
  const first = await target.run(files, plan);
  // The first run includes compilation and other one-time work.
  const second = first.ms > allowedMs ? await target.run(files, plan) : first;
  // Errors that nothing awaits are reported in a later turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  let what = first.failure && textOf(first.failure);
  if (unhandled !== undefined) what ??= `unhandled: ${textOf(unhandled)}`;
  if (second.ms > allowedMs) what ??= TOOK_TOO_LONG;
  if (hasTooMuchMemory()) what ??= 'took more than 512 MB';
  what ??= anyPollution();
  unhandled = undefined;
  send({ type: 'tried', what });
}

async function run(task: RunTask): Promise<void> {
  const campaign = new Campaign(task.seed, collectSeeds(task.corpus), task.kinds);
  const descriptor = openSync(task.statusPath, 'w');
  const status = new Float64Array(2);
  let inputs: Partial<Record<SeedKind, number>> = {};
  let refused = 0;
  let samples = 0;
  let unread = 0;
  let slowest = { index: task.from, ms: 0 };
  let reported = Date.now();
  let index = task.from;
  const report = (): void => {
    send({ type: 'progress', next: index, inputs, refused, samples, unread, slowest });
    inputs = {};
    refused = samples = unread = 0;
    slowest = { index, ms: 0 };
    reported = Date.now();
  };
  for (let now = reported; index < task.to && now < task.deadline; now = Date.now()) {
    status[0] = index;
    status[1] = now;
    writeSync(descriptor, status, 0, status.byteLength, 0);
    const { kind, files, plan } = campaign.trial(index);
    const outcome = await target.run(files, plan);
    const { ms } = outcome;
    inputs[kind] = (inputs[kind] ?? 0) + 1;
    if (outcome.samples < 0) refused++;
    else samples += outcome.samples;
    unread += outcome.unread;
    if (ms > slowest.ms) slowest = { index, ms };
    if (outcome.failure !== undefined) send({ type: 'suspicion', index, what: textOf(outcome.failure) });
    else if (unhandled !== undefined) send({ type: 'suspicion', index, what: `unhandled: ${textOf(unhandled)}` });
    else if (ms > allowedCpuMs(files, plan)) send({ type: 'suspicion', index, what: TOOK_TOO_LONG });
    unhandled = undefined;
    if (hasTooMuchMemory()) {
      send({ type: 'suspicion', index, what: 'took more than 512 MB' });
      index++;
      break;
    }
    index++;
    if (now - reported >= PROGRESS_MS) report();
  }
  const polluted = anyPollution();
  if (polluted !== undefined) send({ type: 'suspicion', index: index - 1, what: polluted });
  report();
  send({ type: 'end', next: index });
}
