import type { ByteView } from '../../base/bytes/byte-view.ts';
import * as abi from '../abi/constants.ts';
import type { PerfEventAttr } from './attr.ts';

/**
 * The trailer that every kernel record except SAMPLE carries if `sample_id_all` is set, in its order (perf_event.h, struct sample_id). IDENTIFIER is last so
 * that it can be found without knowing the attr.
 */
const SAMPLE_ID_FIELDS = [
  { name: 'tid', bit: abi.PERF_SAMPLE_TID },
  { name: 'time', bit: abi.PERF_SAMPLE_TIME },
  { name: 'id', bit: abi.PERF_SAMPLE_ID },
  { name: 'streamId', bit: abi.PERF_SAMPLE_STREAM_ID },
  { name: 'cpu', bit: abi.PERF_SAMPLE_CPU },
  { name: 'identifier', bit: abi.PERF_SAMPLE_IDENTIFIER },
] as const;

/** One attr's sample_id trailer: how far before the record's end each field begins; −1 for fields that it does not have. */
export interface SampleIdLayout {
  readonly sizeBytes: number;
  readonly tid: number;
  readonly time: number;
  readonly id: number;
  readonly streamId: number;
  readonly cpu: number;
  readonly identifier: number;
}

/** Compiles the trailer of an attr; without `sample_id_all` it is empty. */
export function compileSampleId(attr: PerfEventAttr): SampleIdLayout {
  const layout = { sizeBytes: 0, tid: -1, time: -1, id: -1, streamId: -1, cpu: -1, identifier: -1 };
  if (!attr.flags.has('sample_id_all')) return layout;
  for (const field of [...SAMPLE_ID_FIELDS].reverse()) {
    if ((attr.sampleType & field.bit) === 0) continue;
    layout.sizeBytes += 8;
    layout[field.name] = layout.sizeBytes;
  }
  return layout;
}

/** What the trailer of a kernel record says; fields that its event did not ask for are absent. */
export interface SampleId {
  readonly pid?: number;
  readonly tid?: number;
  readonly time?: bigint;
  readonly id?: bigint;
  readonly streamId?: bigint;
  readonly cpu?: number;
}

/** Reads the trailer of a record that ends at `end`, and is large enough for it. */
export function readSampleId(view: ByteView, end: number, layout: SampleIdLayout): SampleId {
  const sampleId: { -readonly [Name in keyof SampleId]: SampleId[Name] } = {};
  if (layout.tid >= 0) {
    sampleId.pid = view.i32(end - layout.tid);
    sampleId.tid = view.i32(end - layout.tid + 4);
  }
  if (layout.time >= 0) sampleId.time = view.big(end - layout.time);
  const id = layout.identifier >= 0 ? layout.identifier : layout.id;
  if (id >= 0) sampleId.id = view.big(end - id);
  if (layout.streamId >= 0) sampleId.streamId = view.big(end - layout.streamId);
  if (layout.cpu >= 0) sampleId.cpu = view.i32(end - layout.cpu);
  return sampleId;
}
