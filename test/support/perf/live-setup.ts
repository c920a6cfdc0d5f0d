import { afterEach, beforeEach } from 'vitest';
import { beginTest, keepRecordings } from './kept-recordings.ts';

// For tests that record: if one fails, its recordings are kept, and its message says how to repeat it.

interface Named {
  readonly name: string;
  readonly suite?: Named | undefined;
}

/** A test's name after those of its suites, as `-t` finds it. */
function fullName({ name, suite }: Named): string {
  return suite === undefined ? name : `${fullName(suite)} ${name}`;
}

beforeEach(beginTest);
afterEach(({ task }) => {
  const [error] = task.result?.errors ?? [];
  if (error !== undefined) error.message += `\n\n${keepRecordings(task.file.filepath, fullName(task))}\n`;
});
