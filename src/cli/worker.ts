import { parentPort } from 'node:worker_threads';
import { loadProgram } from './load-program.ts';

// What runs in the thread that entry.ts starts.
const { exports, keepCode } = loadProgram();
void exports.work(process.argv.slice(2), parentPort).then(() => keepCode());
