import type { MessagePort } from 'node:worker_threads';
import { receiveSignalsThrough, tellSupervisor } from '../host/program/signals.ts';
import { StandardStreams } from '../host/program/standard-streams.ts';
import { main } from './main.ts';

export { main } from './main.ts';

/** Runs the program in the thread that entry.ts starts. @param port to the thread that supervises it; null if there is none */
export async function work(args: readonly string[], port: MessagePort | null): Promise<void> {
  if (port !== null) receiveSignalsThrough(port);
  tellSupervisor({ kind: 'started' });
  tellSupervisor({ kind: 'done', status: await main(args, new StandardStreams()) });
}
