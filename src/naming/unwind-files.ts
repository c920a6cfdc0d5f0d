import type { Features } from '../perfdata/features.ts';
import { type Dso, listedBuildId } from '../session/dsos.ts';
import type { UnwindFile, UnwindFiles } from '../session/unwind-files.ts';
import type { RecordingSymbols } from '../symbolizer/recording-symbols.ts';
import { codeObject } from './code-sources.ts';

/** Finds unwinding rules in the files that symbols are read from. */
export class SymbolizerUnwindFiles implements UnwindFiles {
  readonly #symbols: RecordingSymbols;
  readonly #readsLines: boolean;
  readonly #opened: (() => Promise<void>)[] = [];

  /** @param readsLines whether the debug information of files will be read as well */
  constructor(symbols: RecordingSymbols, readsLines: boolean) {
    this.#symbols = symbols;
    this.#readsLines = readsLines;
  }

  async load(dso: Dso, features: Features): Promise<UnwindFile | undefined> {
    const { buildIds = [] } = features;
    const buildId = dso.buildId || listedBuildId(dso, (name) => buildIds.find(({ filename }) => filename === name)?.buildId);
    const rules = await this.#symbols.unwindRulesFor(codeObject({ ...dso, buildId }, features), this.#readsLines);
    if (rules !== undefined) this.#opened.push(() => rules.close());
    return rules;
  }

  /** Closes all files. */
  async close(): Promise<void> {
    for (const close of this.#opened.splice(0)) await close();
  }
}
