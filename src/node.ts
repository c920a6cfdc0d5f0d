/**
 * perfconv's library in Node: opens recordings by their paths, with the symbols, JIT dumps and limits of this machine, as the command line
 * does. Nothing prints or exits.
 */

export type { Diagnostic as Finding } from './base/problems/diagnostics.ts';
export { PerfconvError } from './base/problems/errors.ts';
export { demangle } from './demangle/demangle.ts';
export { NodeSymbolFiles } from './host/symbols/symbol-files.ts';
export type { RecordingInfo } from './info/recording-info.ts';
export type { BinarySymbols } from './library/binaries.ts';
export type { CallTree, CallTreeOptions } from './library/call-trees.ts';
export type { DiffOptions, ProfileDiff } from './library/diff.ts';
export { encodeText } from './library/encode-text.ts';
export type { OpenOptions } from './library/open-options.ts';
export type { WriteOptions } from './library/options.ts';
export type { ProfileEvent } from './library/profile-event.ts';
export type { ReportOptions, ReportTable } from './library/report.ts';
export type { ProfileSample } from './library/samples.ts';
export { mergeProfiles, openRecording } from './node/open-recording.ts';
export type { Profile } from './node/profile.ts';
export type { ProfileOptions, Recording } from './node/recording.ts';
export type { PerfRecord } from './perfdata/records/perf-record.ts';
export { FORMATS, type Format } from './pipeline/formats.ts';
