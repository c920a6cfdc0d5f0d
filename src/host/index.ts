/** What Node adds to the library: files, and where this machine keeps symbols. */
export { DebuginfodClient, type DebuginfodOptions } from './debuginfod.ts';
export { DebuginfodCache, debuginfodCacheDir } from './debuginfod-cache.ts';
export { GzipSink } from './gzip-sink.ts';
export { type JitDumpDirectories, jitDumpsOf } from './jit-dumps.ts';
export { nativeZstd } from './native-zstd.ts';
export { type OpenInput, openFile, openStandardInput } from './open-input.ts';
export { OpenedFiles } from './opened-files.ts';
export { OutputStage } from './output-stage.ts';
export { type NodeReadingOptions, readingOptions, type SymbolPlaces } from './reading-options.ts';
export { openStandardOutput } from './standard-output.ts';
export { NodeSymbolFiles } from './symbol-files.ts';
export { WritableSink } from './writable-sink.ts';
