/** Names code by itself: functions, files and lines of addresses, for programs that have no recording. Loads none of what reads one. */

export { BufferSource, type ByteSource } from './base/byte-source.ts';
export { type Diagnostic as Finding, Diagnostics } from './base/diagnostics.ts';
export { PerfconvError } from './base/errors.ts';
export type { CodeSymbols, SourceFrame, SourceFunction, SourceLines } from './symbol-table/code-symbols.ts';
export type { SymbolTable } from './symbol-table/symbol-table.ts';
export type { SearchedPlace } from './symbolizer/search/search-log.ts';
export { type CodeObject, type CodeQuestion, DEFAULT_DEBUG_DIRS, type SymbolFiles, Symbolizer, type SymbolizerOptions } from './symbolizer/symbolizer.ts';
