import { parentPort } from 'node:worker_threads';
import { hearSignalsThrough, tellSupervisor } from '../host/signals.ts';
import { StandardStreams } from '../host/standard-streams.ts';
import { main } from './main.ts';

// The program itself, in the thread that entry.ts starts.
if (parentPort !== null) hearSignalsThrough(parentPort);
tellSupervisor({ kind: 'started' });
tellSupervisor({ kind: 'done', status: await main(process.argv.slice(2), new StandardStreams()) });
