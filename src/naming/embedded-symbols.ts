import { moduleNameOf } from '../base/names/module-names.ts';
import type { EmbeddedTable } from '../session/processes/embedded-symbols.ts';
import type { SessionResult } from '../session/session.ts';
import { type SymbolColumns, SymbolTable } from '../symbol-table/symbol-table.ts';
import { columnsOfListed } from '../symbol-table/symbol-table-builder.ts';
import { Kallsyms } from '../symbolizer/kernel/kallsyms.ts';

/** The symbols that the recording itself holds, as tables, each built when it is first asked for. */
export class EmbeddedSymbolTables {
  readonly #session: SessionResult;
  readonly #built = new Map<EmbeddedTable, SymbolColumns>();
  #kallsyms: Kallsyms | undefined;

  constructor(session: SessionResult) {
    this.#session = session;
  }

  /** The tables that may name addresses of a DSO, the best first. */
  *tablesOf(dso: number): Generator<SymbolTable, void, undefined> {
    const { embeddedSymbols, dsos } = this.#session;
    const { kind, name } = dsos[dso];
    for (const embedded of embeddedSymbols.tables[dso]) {
      const columns = this.#build(embedded);
      yield kind === 'module' ? new ModuleSymbolTable(columns) : new SymbolTable(columns);
    }
    if (embeddedSymbols.kallsyms === undefined || (kind !== 'kernel' && kind !== 'module')) return;
    this.#kallsyms ??= Kallsyms.parse(embeddedSymbols.kallsyms);
    if (this.#kallsyms.isHidden) return;
    // The list and the samples are of the same boot: nothing was relocated in between.
    const listed = kind === 'kernel' ? this.#kallsyms.kernel(0) : this.#kallsyms.module(moduleNameOf(name));
    if (listed !== undefined) yield listed;
  }

  /** Several DSOs may share a table: the kernel's also has the functions of modules. */
  #build(embedded: EmbeddedTable): SymbolColumns {
    let built = this.#built.get(embedded);
    if (built === undefined) {
      built = columnsOfListed(embedded.symbols, embedded.shift);
      this.#built.set(embedded, built);
    }
    return built;
  }
}

/**
 * simpleperf writes `name [module]` for a module's function that it found in kallsyms. The DSO already has the module's
 * name.
 */
class ModuleSymbolTable extends SymbolTable {
  override name(index: number): string {
    const name = super.name(index);
    if (!name.endsWith(']')) return name;
    const open = name.indexOf(' [', name.lastIndexOf(']', name.length - 2) + 1);
    return open < 0 ? name : name.slice(0, open);
  }
}
