import type { Diagnostics } from '../../base/diagnostics.ts';
import { recordTypeName } from '../../perfdata/constants.ts';

/** Reports a record of a type that this version does not know: it may have had something that matters. */
export function reportUnknownRecord(type: number, fileOffset: number, diagnostics: Diagnostics): void {
  diagnostics.add('unknown-record', 'loss', `${recordTypeName(type)} is not known and was skipped`, fileOffset);
}
