import { parentPort } from 'node:worker_threads';
import { runProgram } from './run-program.ts';

// The module of the thread that entry.ts starts.
void runProgram(({ work }) => work(process.argv.slice(2), parentPort));
