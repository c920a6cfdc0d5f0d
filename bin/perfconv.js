#!/usr/bin/env node
try {
  await import('../dist/cli/entry.js');
} catch (error) {
  // The system did not let its files be read, for example because too many are open. All other errors are reported in there.
  if (error?.syscall === undefined) throw error;
  process.stderr.write(`perfconv: ${error.message}\n`);
  process.exitCode = 1;
}
