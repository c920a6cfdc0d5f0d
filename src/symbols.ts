/** Names code without a recording: functions, files and lines of addresses. Loads nothing that reads recordings. */

export { type Diagnostic as Finding, Diagnostics, type Severity } from './base/problems/diagnostics.ts';
export { type ErrorPlace, PerfconvError, type PerfconvErrorCode } from './base/problems/errors.ts';
export type { OptionWords } from './base/problems/option-words.ts';
export type { BlockingSource } from './base/streams/blocking-source.ts';
export { BufferSource, type ByteSource } from './base/streams/byte-source.ts';
export type { AbortSignalLike } from './base/streams/cancellation.ts';
export type { Compression, Decompressor } from './base/streams/decompressor.ts';
export type { RecordingContext } from './base/streams/recording-input.ts';
export type { ExactInteger } from './base/text/exact-integer.ts';
export type { CodeSymbols, SourceFrame, SourceFunction, SourceLines, SourceScope } from './symbol-table/code-symbols.ts';
export type { SymbolTable } from './symbol-table/symbol-table.ts';
export { type FileDoubt, type FileHoldings, type FileUse, type PlaceOutcome, type SearchedPlace, SymbolSearch } from './symbolizer/inputs/search-log.ts';
export type { DebugFileKind, FetchedFile, FileStamp, JitFile, RecordedProcess, SymbolFiles } from './symbolizer/inputs/symbol-files.ts';
export type { GuestOptions, SymbolizerOptions } from './symbolizer/inputs/symbolizer-options.ts';
export type { RecordingSymbols } from './symbolizer/recording-symbols.ts';
export { type CodeObject, type CodeQuestion, DEFAULT_DEBUG_DIRS, Symbolizer } from './symbolizer/symbolizer.ts';
