/** The part of perfconv's library that names code, for programs that have addresses and no recording: it is a third of it. */

export { type Diagnostic, Diagnostics, type Severity } from './base/diagnostics.ts';
export { type ErrorPlace, PerfconvError, type PerfconvErrorCode } from './base/errors.ts';
export type { CodeSymbols, SourceFrame, SourceFunction, SourceLines } from './symbol-table/code-symbols.ts';
export type { SymbolTable } from './symbol-table/symbol-table.ts';
export type { SearchedPlace } from './symbolizer/search/search-log.ts';
export { type CodeObject, type CodeQuestion, DEFAULT_DEBUG_DIRS, type SymbolFiles, Symbolizer, type SymbolizerOptions } from './symbolizer/symbolizer.ts';
