import type { SessionResult } from '../session/session.ts';
import type { EmbeddedTable } from '../session/simpleperf-symbols.ts';
import type { SymbolTable } from '../symbol-table/symbol-table.ts';
import { RANK_GLOBAL, SymbolTableBuilder } from '../symbol-table/symbol-table-builder.ts';
import { Kallsyms } from '../symbolizer/kernel/kallsyms.ts';

/** Symbols that the recording holds itself, made into tables when they are asked for. */
export class EmbeddedSymbolTables {
  readonly #session: SessionResult;
  readonly #built = new Map<EmbeddedTable, SymbolTable>();
  #kallsyms: Kallsyms | undefined;

  constructor(session: SessionResult) {
    this.#session = session;
  }

  /** The tables that may name addresses of a DSO, the best first. */
  tablesOf(dso: number): SymbolTable[] {
    const { embeddedSymbols, dsos } = this.#session;
    const tables = embeddedSymbols.tables[dso].map((table) => this.#build(table));
    const { kind, name } = dsos[dso];
    if (embeddedSymbols.kallsyms === undefined || (kind !== 'kernel' && kind !== 'module')) return tables;
    this.#kallsyms ??= Kallsyms.parse(embeddedSymbols.kallsyms);
    if (this.#kallsyms.isHidden) return tables;
    // The list and the samples are of the same boot: nothing was relocated between the two.
    const listed = kind === 'kernel' ? this.#kallsyms.kernel(0) : this.#kallsyms.module(name.replace(/^\[|\]$/g, ''));
    return listed === undefined ? tables : [...tables, listed];
  }

  #build(table: EmbeddedTable): SymbolTable {
    let built = this.#built.get(table);
    if (built === undefined) {
      const { starts, sizes, nameOffsets, nameLengths, names } = table.symbols;
      const builder = new SymbolTableBuilder(starts.length);
      for (let i = 0; i < starts.length; i++) builder.add(starts[i], sizes[i], nameOffsets[i], nameLengths[i], RANK_GLOBAL);
      built = builder.build(names, table.shift);
      this.#built.set(table, built);
    }
    return built;
  }
}
