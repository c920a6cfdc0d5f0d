/** The part of perfconv's library that names code, for programs that have addresses and no recording: it is a third of it. */

export { type Diagnostic, Diagnostics, type Severity } from './diagnostics.ts';
export { type ErrorPlace, PerfconvError, type PerfconvErrorCode } from './errors.ts';
export type { CodeSymbols, SourceFrame, SourceFunction, SourceLines } from './symbols/code-symbols.ts';
export type { SearchedPlace } from './symbols/search/search-log.ts';
export { type CodeObject, type CodeQuestion, DEFAULT_DEBUG_DIRS, type SymbolFiles, Symbolizer, type SymbolizerOptions } from './symbols/symbolizer.ts';
export type { SymbolTable } from './symbols/table/symbol-table.ts';
