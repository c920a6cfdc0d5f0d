import type { SourceFunction, SourceScope } from '../../symbol-table/code-symbols.ts';
import type { DwarfFile } from '../units/dwarf-file.ts';

/** A function whose names are filled in when all functions are known: names are read in the order of the file. */
export class DescribedFunction implements SourceFunction, SourceScope {
  name = '';
  linkageName = '';
  file = '';
  startLine = 0;
  scope: SourceScope | null | undefined = undefined;
  #wantsScope: boolean;
  #lastDie: LastDie | undefined;

  constructor(wantsScope: boolean) {
    this.#wantsScope = wantsScope;
  }

  get wantsScope(): boolean {
    return this.#wantsScope;
  }

  wantScope(): void {
    this.#wantsScope = true;
  }

  /** The last DIE of its description, if its scope may be wanted: this is the DIE that is in the scope. */
  get lastDie(): LastDie | undefined {
    return this.#lastDie;
  }

  endAt(lastDie: LastDie): void {
    this.#lastDie = lastDie;
  }
}

export interface LastDie {
  readonly file: DwarfFile;
  /** Offset in `.debug_info`. */
  readonly offset: number;
}

/** A namespace or a type. Its name is filled in with those of functions. */
export class DescribedScope implements SourceScope {
  name = '';
  linkageName = '';
  readonly isNamespace: boolean;
  scope: SourceScope | null;

  constructor(isNamespace: boolean, scope: SourceScope | null) {
    this.isNamespace = isNamespace;
    this.scope = scope;
  }
}
