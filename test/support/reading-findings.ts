import type { Diagnostic, Diagnostics } from '../../src/base/diagnostics.ts';

/** What was found as the bytes were read, without what is said of the samples' callers: many recordings of tests have none. */
export function readingFindings(diagnostics: Diagnostics): Diagnostic[] {
  return diagnostics.list().filter(({ code }) => code !== 'no-callchains');
}
