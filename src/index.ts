/**
 * perfconv's library: reads Linux perf.data recordings and writes them in the formats that profile viewers open.
 * Nothing here touches files, prints or exits; `perfconv/node` opens files.
 */

export type { BlockingSource } from './bytes/blocking-source.ts';
export { BufferSink, type ByteSink } from './bytes/byte-sink.ts';
export { BufferSource, type ByteSource } from './bytes/byte-source.ts';
export { encodeText } from './bytes/text.ts';
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
} from './convert.ts';
export { type Diagnostic, Diagnostics, type Severity } from './diagnostics.ts';
export type { DsoSymbols } from './dso-symbols.ts';
export { type ErrorPlace, PerfconvError, type PerfconvErrorCode } from './errors.ts';
export { FORMATS, type Format, type OutputFormat, outputFormatOf, type StreamFormat } from './formats.ts';
export type { DebugInfoUse } from './location-naming.ts';
export type { BranchFlags } from './perfdata/branch-stack.ts';
export type { OpenJitDump } from './perfdata/jitdump.ts';
export type { PerfRecord, RecordedEvent } from './perfdata/records/perf-record.ts';
export type { BranchEntry, BranchStack, Sample, SampledRegs, UserStack } from './perfdata/sample.ts';
export type { SampleId } from './perfdata/sample-id.ts';
export { mergeProfiles, ProfileMerger } from './profile/merge.ts';
export type { Profile, ProfileInput } from './profile/profile.ts';
export { type ReadProfileOptions, type ReadProfileResult, readProfile } from './read-profile.ts';
export { type ReadRecordsOptions, readRecords } from './read-records.ts';
export {
  type AttrInfo,
  type BpfProgramInfo,
  type ClockInfo,
  type EventInfo,
  type GroupInfo,
  type HostInfo,
  type MachineInfo,
  type MemoryInfo,
  type PmuInfo,
  type RecordingInfo,
  type RecordingInfoOptions,
  readRecordingInfo,
  type TimeInfo,
  type TopologyInfo,
} from './recording-info.ts';
export type { RecordObserver } from './session/replay.ts';
export type { SessionResult } from './session/session.ts';
export type { CodeSymbols, SourceFrame, SourceFunction, SourceLines } from './symbols/code-symbols.ts';
export { type DemangleStyle, demangle } from './symbols/demangle/demangle.ts';
export type { SearchedPlace } from './symbols/search/search-log.ts';
export type { CodeObject, CodeQuestion } from './symbols/symbolizer.ts';
export type { SymbolTable } from './symbols/table/symbol-table.ts';
export { type WriteOptions, writeProfile } from './write-profile.ts';
export type { PprofLabel } from './writers/pprof-labels.ts';
export { type ReportKey, type ReportOptions, writeReport } from './writers/report.ts';
export type { ScriptField } from './writers/script.ts';
