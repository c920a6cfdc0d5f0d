import type { ByteView } from '../base/bytes/byte-view.ts';
import type { FeatureReaders, SectionReader } from '../base/bytes/section-reader.ts';
import { EVENT_LIMIT, type NameLimit } from '../base/names/name-limits.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import * as sp from './constants.ts';
import { checkFileCount, readFile2Feature, readFileFeature, type SimpleperfFile } from './files.ts';
import { ProtobufReader, readProtobuf } from './protobuf-reader.ts';

/** An event as simpleperf calls it: META_INFO's `event_type_info`. */
export interface SimpleperfEventType {
  readonly name: string;
  /** perf_event_attr.type and .config. */
  readonly type: number;
  readonly config: bigint;
}

/** A binary inside the recording. */
export interface DebugUnwindFile {
  readonly path: string;
  readonly sizeBytes: number;
}

/** What the feature sections say that only simpleperf has. */
export interface SimpleperfSections {
  /** META_INFO as it was written: `simpleperf_version`, `clockid`, `app_package_name`, `trace_offcpu` … Empty without META_INFO. */
  metaInfo: ReadonlyMap<string, string>;
  /** The binaries of FILE or FILE2, with their symbols. */
  readonly files: SimpleperfFile[];
  /** The binaries in DEBUG_UNWIND_FILE, in its order: what is needed to unwind a stack again. */
  readonly debugUnwindFiles: DebugUnwindFile[];
  /** INIT_MAP: records of maps and names from before the first record of the data section; undefined without INIT_MAP. */
  initMap: Uint8Array | undefined;
}

/** Absent if the recording was not written by simpleperf, or by an old version of it. */
export interface SimpleperfFeatures {
  simpleperf?: SimpleperfSections;
}

/**
 * Source: simpleperf's record_file_format.h. Of the sections without a reader, only the names are known: DEBUG_UNWIND_FILE holds whole binaries,
 * ETM_BRANCH_LIST a decoded trace.
 */
export const SIMPLEPERF_READERS: FeatureReaders<SimpleperfFeatures> = {
  [sp.SP_FEATURE_FILE]: (features, section) => readFileFeature(section.view, sectionsOf(features).files),
  [sp.SP_FEATURE_META_INFO]: (features, section) => {
    const metaInfo = new Map<string, string>();
    sectionsOf(features).metaInfo = metaInfo;
    readMetaInfo(section, metaInfo);
  },
  [sp.SP_FEATURE_DEBUG_UNWIND]: (features, section) => readProtobuf(() => readDebugUnwind(section.view, sectionsOf(features).debugUnwindFiles)),
  [sp.SP_FEATURE_FILE2]: (features, section) => readFile2Feature(section.view, sectionsOf(features).files),
  [sp.SP_FEATURE_INIT_MAP]: (features, section) => {
    sectionsOf(features).initMap = section.view.bytes;
  },
};

function sectionsOf(features: SimpleperfFeatures): SimpleperfSections {
  features.simpleperf ??= { metaInfo: new Map(), files: [], debugUnwindFiles: [], initMap: undefined };
  return features.simpleperf;
}

/** What distinguishes simpleperf's recordings from others, and what names their events. */
type RecordingFeatures = SimpleperfFeatures & { readonly present: ReadonlySet<number>; readonly cmdline?: readonly string[] };

/** Whether simpleperf wrote the recording: it has features of simpleperf's own or, before 2017, its command line says so. */
export function isSimpleperfRecording(features: RecordingFeatures): boolean {
  for (const bit of features.present) if (bit >= sp.SP_FEATURE_START && bit < sp.SP_FEATURE_END) return true;
  return /(^|[/\\])simpleperf[^/\\]*$/.test(features.cmdline?.[0] ?? '');
}

/** The key of the events' names. */
const EVENT_TYPE_INFO = 'event_type_info';
/** Limit of a line of it: a name, and two numbers of up to ten and twenty digits, separated by commas. */
const EVENT_TYPE_LIMIT: NameLimit = { ...EVENT_LIMIT, kind: 'event type', bytes: EVENT_LIMIT.bytes + 32 };

/** simpleperf writes some twenty. */
const MAX_META_INFO = 1 << 16;

/** Pairs of key and value, each ended by NUL. */
function readMetaInfo(section: SectionReader, info: Map<string, string>): void {
  const { view } = section;
  const { bytes } = view;
  for (let at = 0; at < bytes.length; ) {
    const keyEnd = bytes.indexOf(0, at);
    const valueEnd = keyEnd < 0 ? -1 : bytes.indexOf(0, keyEnd + 1);
    if (valueEnd < 0) throw new PerfconvError('damaged', 'unterminated text');
    if (info.size >= MAX_META_INFO) throw new PerfconvError('damaged', `more than ${MAX_META_INFO} entries`);
    const key = view.text(at, keyEnd);
    const value = view.text(keyEnd + 1, valueEnd);
    const lines = key === EVENT_TYPE_INFO ? value.split('\n').map((line) => section.limited(line, EVENT_TYPE_LIMIT, keyEnd + 1)) : [value];
    info.set(key, lines.join('\n'));
    at = valueEnd + 1;
  }
}

/** DebugUnwindFeature of record_file.proto: files (1), each with path (1) and size (2). */
function readDebugUnwind(section: ByteView, files: DebugUnwindFile[]): void {
  const message = new ProtobufReader(section.bytes, 0);
  while (message.next(section.length)) {
    if (!message.isBytes(1)) {
      message.skip();
      continue;
    }
    checkFileCount(files);
    const file = { path: '', sizeBytes: 0 };
    const end = message.bytesEnd(section.length);
    while (message.next(end)) {
      if (message.isBytes(1)) {
        const pathEnd = message.bytesEnd(end);
        file.path = section.text(message.at, pathEnd);
        message.skipTo(pathEnd);
      } else if (message.isNumber(2)) file.sizeBytes = message.u64();
      else message.skip();
    }
    files.push(file);
  }
}

/** perf_event_attr.type of the generic events of perf_event.h. */
const PERF_TYPE_HARDWARE = 0;

/** Generic events to which simpleperf gives other names than perf. */
const GENERIC_EVENT_TYPES: readonly SimpleperfEventType[] = [
  { name: 'cpu-cycles', type: PERF_TYPE_HARDWARE, config: 0n },
  { name: 'branch-instructions', type: PERF_TYPE_HARDWARE, config: 4n },
];

/**
 * The events of META_INFO's `event_type_info`: a line each, `name,type,config`. Lines of another form are left out. For recordings of simpleperf without it,
 * the generic events to which simpleperf gives its own names; none for other recordings.
 */
export function simpleperfEventTypes(features: RecordingFeatures): readonly SimpleperfEventType[] {
  const info = features.simpleperf?.metaInfo.get(EVENT_TYPE_INFO);
  if (info === undefined) return isSimpleperfRecording(features) ? GENERIC_EVENT_TYPES : [];
  const types: SimpleperfEventType[] = [];
  for (const line of info.split('\n')) {
    // A PMU's event may have commas in its name.
    const match = /^(.+),(\d{1,10}),(\d{1,20})$/.exec(line);
    if (match !== null) types.push({ name: match[1], type: Number(match[2]), config: BigInt(match[3]) });
  }
  return types;
}
