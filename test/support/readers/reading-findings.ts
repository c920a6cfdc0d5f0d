import type { Diagnostic, Diagnostics } from '../../../src/base/problems/diagnostics.ts';

/** What was found when the bytes were read, except findings about the callers of samples: many recordings of tests have none. */
export function readingFindings(diagnostics: Diagnostics): Diagnostic[] {
  return diagnostics.list().filter(({ code }) => code !== 'no-callchains');
}
