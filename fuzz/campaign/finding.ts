import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type InputFiles, isDirectory, type SeedKind, SINGLE_FILE } from '../seeds/seed.ts';
import type { Plan } from '../target/plan.ts';

/** An input on which the library failed. */
export interface Finding {
  readonly seed: number;
  readonly index: number;
  readonly kind: SeedKind;
  readonly seedName: string;
  readonly plan: Plan;
  /** What happened: the stack of an error, or that it took too long. */
  readonly what: string;
  readonly files: InputFiles;
}

/** Text that findings of the same cause share: the error without its numbers, and the innermost three functions. */
export function signatureOf(what: string): string {
  const [message, ...frames] = what.split('\n');
  const places = frames
    .filter((line) => /^\s+at /.test(line) && !/node:|\(<anonymous>\)|\/fuzz\/[\w-]+\.[jt]s:/.test(line))
    .slice(0, 3)
    .map((line) => line.replace(/^\s+at (?:async )?(\S+).*$/, '$1').replace(/^.*\//, ''));
  return [message.replace(/"[^"]*"|0x[0-9a-f]+|-?\d+(\.\d+)?(e\+\d+)?/g, '#').slice(0, 120), ...places].join(' < ');
}

/** Writes the input of a finding, and beside it a JSON file with everything else. @returns path of the input */
export function saveFinding(folder: string, finding: Finding): string {
  mkdirSync(folder, { recursive: true });
  const { files, ...rest } = finding;
  const name = `${finding.kind}-${finding.seed}-${finding.index}`;
  const path = join(folder, `${name}.data`);
  rmSync(path, { recursive: true, force: true });
  if (files.size > 1 || isDirectory(files)) {
    mkdirSync(path);
    for (const [part, bytes] of files) writeFileSync(join(path, part), bytes);
  } else {
    writeFileSync(path, files.get(SINGLE_FILE) ?? '');
  }
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify({ ...rest, signature: signatureOf(finding.what) }, undefined, 2)}\n`);
  return path;
}
