/** What Node adds to the library: files, and where this machine keeps symbols. */
export { DebuginfodClient, type DebuginfodOptions } from './host/debuginfod.ts';
export { DebuginfodCache, debuginfodCacheDir } from './host/debuginfod-cache.ts';
export { GzipSink } from './host/gzip-sink.ts';
export { type JitDumpDirectories, jitDumpsOf } from './host/jit-dumps.ts';
export { nativeZstd } from './host/native-zstd.ts';
export { type OpenInput, openFile, openStandardInput } from './host/open-input.ts';
export { OpenedFiles } from './host/opened-files.ts';
export { OutputStage } from './host/output-stage.ts';
export { type NodeReadingOptions, readingOptions, type SymbolPlaces } from './host/reading-options.ts';
export { openStandardOutput } from './host/standard-output.ts';
export { NodeSymbolFiles } from './host/symbol-files.ts';
export { WritableSink } from './host/writable-sink.ts';
