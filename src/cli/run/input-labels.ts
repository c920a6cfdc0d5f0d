import { sep } from 'node:path';
import { STANDARD_STREAM } from '../../base/names/input-names.ts';
import { absolutePath } from '../../host/system/system-path.ts';
import { distinctLabels } from '../../pipeline/distinct-labels.ts';
import { displayName } from '../printing/messages.ts';

/** What several inputs are called in one result. */
export function inputLabels(inputs: readonly string[]): string[] {
  return distinctLabels(inputs.map((input) => (input === STANDARD_STREAM ? [displayName(input)] : absolutePath(input).split(sep))));
}
