import type { Diagnostics } from '../../base/problems/diagnostics.ts';

/** Reports a record of a type that this version does not know: it may have had something that matters. */
export function reportUnknownRecord(type: number, fileOffset: number, diagnostics: Diagnostics): void {
  diagnostics.add('unknown-record', 'loss', `records of types that are not known were skipped (the first of them of type ${type})`, fileOffset);
}
