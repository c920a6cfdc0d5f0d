#!/usr/bin/env node
try {
  await import('../dist/cli/entry.js');
} catch (error) {
  // The system did not let its files be read, for example because too many are open. All other errors are reported in there.
  if (error?.syscall === undefined) throw error;
  const isOutOfDescriptors = error.code === 'EMFILE' || error.code === 'ENFILE';
  process.stderr.write(`perfconv: ${isOutOfDescriptors ? 'too many open files' : error.message}\n`);
  process.exitCode = 1;
}
