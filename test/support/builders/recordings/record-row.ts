import { RecordRow } from '../../../../src/session/rows/record-row.ts';

/** A new row with some fields set. */
export function recordRow(fields: Partial<RecordRow>): RecordRow {
  return Object.assign(new RecordRow(), fields);
}
