/**
 * perfconv's library: reads Linux perf.data recordings and writes them in the formats that profile viewers open. Here, recordings are bytes in memory, so that
 * it runs in a browser; `perfconv/node` has the same names, and opens files. Nothing prints or exits.
 */

export type { Diagnostic as Finding } from './base/problems/diagnostics.ts';
export { PerfconvError } from './base/problems/errors.ts';
export type { NamedFile as SymbolFile } from './base/streams/named-file.ts';
export { demangle } from './demangle/demangle.ts';
export type { RecordingInfo } from './info/recording-info.ts';
export type { BinarySymbols } from './library/binaries.ts';
export type { CallTree, CallTreeOptions } from './library/call-trees.ts';
export type { DiffOptions, ProfileDiff } from './library/diff.ts';
export { encodeText } from './library/encode-text.ts';
export { mergeProfiles, openRecording, type ProfileOptions, type Recording } from './library/open-bytes.ts';
export type { OpenOptions } from './library/open-options.ts';
export type { WriteOptions } from './library/options.ts';
export type { Profile } from './library/profile.ts';
export type { ProfileEvent } from './library/profile-event.ts';
export type { ReportOptions, ReportTable } from './library/report.ts';
export type { ProfileSample } from './library/samples.ts';
export type { PerfRecord } from './perfdata/records/perf-record.ts';
export { FORMATS, type Format } from './pipeline/formats.ts';
export { BlobSymbolFiles } from './web/blob-symbol-files.ts';
