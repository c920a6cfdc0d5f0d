#!/usr/bin/env node
// CommonJS, by the package.json beside it: Node starts it about 10 ms faster than a module.
if (Number.parseInt(process.versions.node, 10) < 20) {
  process.stderr.write(`perfconv: Node 20.19 or newer is needed; this is Node ${process.versions.node}\n`);
  process.exitCode = 1;
} else {
  start();
}

async function start() {
  try {
    process.exitCode = await require('../dist/cli/entry.cjs').run();
  } catch (error) {
    // A file of the program could not be read, for example because too many files are open. The program itself reports all other errors.
    if (error?.syscall === undefined) throw error;
    const isOutOfDescriptors = error.code === 'EMFILE' || error.code === 'ENFILE';
    process.stderr.write(`perfconv: ${isOutOfDescriptors ? 'too many open files' : error.message}\n`);
    process.exitCode = 1;
  }
}
