import { sep } from 'node:path';
import { absolutePath } from '../host/system-path.ts';
import { distinctLabels } from '../pipeline/distinct-labels.ts';
import { displayName } from './messages.ts';
import { STANDARD_STREAM } from './outputs.ts';

/** What several inputs are called in one result. */
export function inputLabels(inputs: readonly string[]): string[] {
  return distinctLabels(inputs.map((input) => (input === STANDARD_STREAM ? [displayName(input)] : absolutePath(input).split(sep))));
}
