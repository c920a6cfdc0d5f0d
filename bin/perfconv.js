#!/usr/bin/env node
// CommonJS, by the package.json beside it: Node starts it about 10 ms earlier than a module.
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
    // The system did not let a file of the program be read, for example because too many are open. All other errors are reported in there.
    if (error?.syscall === undefined) throw error;
    const isOutOfDescriptors = error.code === 'EMFILE' || error.code === 'ENFILE';
    process.stderr.write(`perfconv: ${isOutOfDescriptors ? 'too many open files' : error.message}\n`);
    process.exitCode = 1;
  }
}
