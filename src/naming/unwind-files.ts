import type { Features } from '../perfdata/features.ts';
import type { Dso } from '../session/dsos.ts';
import type { UnwindFile, UnwindFiles } from '../session/unwind-files.ts';
import type { RecordingSymbols } from '../symbolizer/recording-symbols.ts';
import { codeObject } from './code-sources.ts';

/** Finds rules for unwinding where the symbols of code are found. */
export class SymbolizerUnwindFiles implements UnwindFiles {
  readonly #symbols: RecordingSymbols;
  readonly #readsLines: boolean;
  readonly #opened: (() => Promise<void>)[] = [];

  /** @param readsLines whether the debug information of files is going to be read as well */
  constructor(symbols: RecordingSymbols, readsLines: boolean) {
    this.#symbols = symbols;
    this.#readsLines = readsLines;
  }

  async load(dso: Dso, features: Features): Promise<UnwindFile | undefined> {
    const rules = await this.#symbols.unwindRulesFor(codeObject({ ...dso, buildId: dso.buildId || listedBuildId(dso, features) }, features), this.#readsLines);
    if (rules !== undefined) this.#opened.push(() => rules.close());
    return rules;
  }

  /** Closes all files. */
  async close(): Promise<void> {
    for (const close of this.#opened.splice(0)) await close();
  }
}

/** The build id that the recording lists under a file's name; empty for none. */
function listedBuildId({ kind, name, longName }: Dso, { buildIds = [] }: Features): string {
  const names = kind === 'vdso' ? [name] : [longName, name];
  return names.map((wanted) => buildIds.find(({ filename }) => filename === wanted)?.buildId).find((id) => id !== undefined) ?? '';
}
