/**
 * perfconv's library: reads Linux perf.data recordings and writes them in the formats that profile viewers open.
 * Nothing here touches files, prints or exits; `perfconv/node` opens files.
 */

export type { BlockingSource } from './base/blocking-source.ts';
export { BufferSink, type ByteSink } from './base/byte-sink.ts';
export { BufferSource, type ByteSource } from './base/byte-source.ts';
export { type Diagnostic, Diagnostics, type Severity } from './base/diagnostics.ts';
export { type ErrorPlace, PerfconvError, type PerfconvErrorCode } from './base/errors.ts';
export { encodeText } from './base/text.ts';
export { type DemangleStyle, demangle } from './demangle/demangle.ts';
export type {
  AttrInfo,
  BpfProgramInfo,
  ClockInfo,
  EventInfo,
  GroupInfo,
  HostInfo,
  MachineInfo,
  MemoryInfo,
  PmuInfo,
  RecordingInfo,
  TimeInfo,
  TopologyInfo,
} from './info/recording-info.ts';
export type { OpenJitDump } from './jitdump/jitdump.ts';
export type { DsoSymbols } from './naming/dso-symbols.ts';
export type { DebugInfoUse } from './naming/location-naming.ts';
export type { BranchFlags } from './perfdata/branch-stack.ts';
export type { PerfRecord, RecordedEvent } from './perfdata/records/perf-record.ts';
export type { BranchEntry, BranchStack, Sample, SampledRegs, UserStack } from './perfdata/sample.ts';
export type { SampleId } from './perfdata/sample-id.ts';
export {
  type ConvertOptions,
  type ConvertOutput,
  convert,
  DEFAULT_DEBUG_DIRS,
  parseTimeRanges,
  type SampleFilter,
  type SymbolFiles,
  Symbolizer,
  type SymbolizerOptions,
  type TimeRange,
} from './pipeline/convert.ts';
export { FORMATS, type Format, type OutputFormat, outputFormatOf, type StreamFormat } from './pipeline/formats.ts';
export { type RecordingInfoOptions, readRecordingInfo } from './pipeline/read-info.ts';
export { type ReadProfileOptions, type ReadProfileResult, readProfile } from './pipeline/read-profile.ts';
export { type WriteOptions, writeProfile } from './pipeline/write-profile.ts';
export { mergeProfiles, ProfileMerger } from './profile/merge.ts';
export type { Profile, ProfileInput } from './profile/profile.ts';
export { type ReadRecordsOptions, readRecords } from './records/read-records.ts';
export type { RecordObserver } from './session/replay.ts';
export type { SessionResult } from './session/session.ts';
export type { CodeSymbols, SourceFrame, SourceFunction, SourceLines } from './symbol-table/code-symbols.ts';
export type { SymbolTable } from './symbol-table/symbol-table.ts';
export type { SearchedPlace } from './symbolizer/search/search-log.ts';
export type { CodeObject, CodeQuestion } from './symbolizer/symbolizer.ts';
export type { PprofLabel } from './writers/pprof/labels.ts';
export { type ReportKey, type ReportOptions, writeReport } from './writers/report/report.ts';
export type { ScriptField } from './writers/script/script.ts';
