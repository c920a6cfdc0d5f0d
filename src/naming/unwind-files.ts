import type { Features } from '../perfdata/features/features.ts';
import { listedBuildIds } from '../perfdata/listed-build-ids.ts';
import { isJitFile } from '../profile/names.ts';
import { type Dso, listedBuildId } from '../session/processes/dsos.ts';
import type { UnwindFile, UnwindFiles } from '../session/unwinding/unwind-files.ts';
import type { CodeObject } from '../symbolizer/inputs/code-object.ts';
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
    const rules = await this.#symbols.unwindRulesFor(objectOf(dso, features), this.#readsLines, isJitFile(dso.name));
    if (rules !== undefined) this.#opened.push(() => rules.close());
    return rules;
  }

  async isThere(dso: Dso, features: Features): Promise<boolean> {
    return this.#symbols.isThere(objectOf(dso, features));
  }

  /** Closes all files. */
  async close(): Promise<void> {
    for (const close of this.#opened.splice(0)) await close();
  }
}

/** A DSO with the build id that the recording has said so far. */
function objectOf(dso: Dso, features: Features): CodeObject {
  const buildIds = listedBuildIds(features);
  const buildId = dso.buildId || listedBuildId(dso, (name) => buildIds.findLast(({ filename }) => filename === name)?.buildId);
  return codeObject({ ...dso, buildId }, features);
}
