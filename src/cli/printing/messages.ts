import { STANDARD_STREAM } from '../../base/names/input-names.ts';
import type { Diagnostic } from '../../base/problems/diagnostics.ts';
import type { PerfconvError } from '../../base/problems/errors.ts';
import { printable } from '../../base/text/printable.ts';

/** One line that states why a command failed. @param input the input that was read, if it was only one */
export function errorText(error: PerfconvError, input: string | undefined): string {
  const isAboutInput = input !== undefined && error.code !== 'usage' && error.file === undefined;
  return isAboutInput ? `${displayName(input)}: ${error.message}` : error.message.replace(/^-: /, `${displayName(STANDARD_STREAM)}: `);
}

/** Findings as lines, one for each kind. */
export function summaryLines(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map((diagnostic) => `${LABELS[diagnostic.severity]}: ${diagnosticText(diagnostic)}`);
}

/** What is worth reporting even to those who did not ask for details. */
export function withoutNotes(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.filter(({ severity }) => severity !== 'info');
}

/** What `--quiet` still reports: data loss, in one line; no line if no data was lost. */
export function lossLines(diagnostics: readonly Diagnostic[]): string[] {
  const [first, ...others] = diagnostics.filter(({ severity }) => severity === 'loss');
  if (first === undefined) return [];
  const more = others.length === 0 ? '' : `; and ${others.length} other ${others.length === 1 ? 'kind' : 'kinds'} of loss, printed without --quiet`;
  return [`${LABELS.loss}: ${diagnosticText(first)}${more}`];
}

const LABELS: Readonly<Record<Diagnostic['severity'], string>> = { info: 'note', warning: 'warning', loss: 'data lost' };

/**
 * A finding with its count, the bytes lost and the first offset: `… (12 times, 4096 bytes in all, first at 0x1f30)`.
 */
function diagnosticText({ message, count, firstOffset, bytes }: Diagnostic): string {
  const isOnce = count === 1;
  const at = firstOffset === undefined ? undefined : `0x${firstOffset.toString(16)}`;
  const sum = bytes === undefined ? undefined : `${bytes} bytes${isOnce ? '' : ' in all'}`;
  const details = [isOnce ? undefined : `${count} times`, sum, at === undefined ? undefined : isOnce ? `at ${at}` : `first at ${at}`];
  const text = details.filter((detail) => detail !== undefined).join(', ');
  return printable(text === '' ? message : `${message} (${text})`);
}

/** The name of an input in messages. */
export function displayName(input: string): string {
  return input === STANDARD_STREAM ? 'standard input' : printable(input);
}
