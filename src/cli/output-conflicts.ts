import { fstatSync } from 'node:fs';
import { PerfconvError } from '../errors.ts';
import { identityOf, statsIdentity } from '../host/output-target.ts';
import { displayName } from './messages.ts';
import { type PlannedOutput, STANDARD_STREAM } from './outputs.ts';
import type { Terminal } from './terminal.ts';

/** What is read, and what is made of it. */
interface Conversion {
  readonly input: string;
  readonly outputs: readonly PlannedOutput[];
}

/**
 * Refuses to write one output over another, or over anything that is read, by whatever names the files go.
 * @throws PerfconvError `usage`
 */
export function checkConflicts(conversions: readonly Conversion[], { stdin }: Pick<Terminal, 'stdin'>): void {
  const inputs = new Map(conversions.map(({ input }) => [inputIdentity(input, stdin.fd), input]));
  const written = new Map<string, Conversion>();
  for (const conversion of conversions) {
    for (const { path, isChosen } of conversion.outputs) {
      const identity = path === STANDARD_STREAM ? path : identityOf(path);
      const input = path === STANDARD_STREAM ? undefined : inputs.get(identity);
      if (input !== undefined) throw new PerfconvError('usage', overInputText(path, isChosen, conversion.input, input));
      const other = written.get(identity);
      if (other !== undefined) throw new PerfconvError('usage', twiceText(path, conversion, other));
      written.set(identity, conversion);
    }
  }
}

/**
 * Refuses an input that is given twice: in one result its samples would count twice.
 * @throws PerfconvError `usage`
 */
export function checkDistinct(inputs: readonly string[], { stdin }: Pick<Terminal, 'stdin'>): void {
  const met = new Set<string>();
  for (const input of inputs) {
    const identity = inputIdentity(input, stdin.fd);
    if (met.has(identity)) throw new PerfconvError('usage', `the input ${displayName(input)} is given twice: its samples would count twice`);
    met.add(identity);
  }
}

function inputIdentity(input: string, stdin: number | undefined): string {
  if (input !== STANDARD_STREAM) return identityOf(input);
  try {
    // Redirected from a file, it has a name as well.
    return stdin === undefined ? input : statsIdentity(fstatSync(stdin, { bigint: true }));
  } catch {
    return input; // Closed before we were started.
  }
}

function overInputText(path: string, isChosen: boolean, from: string, input: string): string {
  if (isChosen) return `-o ${path} would overwrite the input`;
  return `${displayName(from)} would be written to ${path} and overwrite the input ${displayName(input)}: convert it by itself, with -o`;
}

function twiceText(path: string, conversion: Conversion, other: Conversion): string {
  if (conversion === other) return `-o ${path} is given twice`;
  if (conversion.input === other.input) return `the input ${displayName(conversion.input)} is given twice`;
  return `${displayName(other.input)} and ${displayName(conversion.input)} would both be written to ${path}: convert each by itself, with -o`;
}
