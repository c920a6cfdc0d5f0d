import type { ByteView } from '../../base/bytes/byte-view.ts';
import { bytes, fieldsOverrun, list, RECORD_HEADER_BYTES, RecordLayout, rest, text } from '../../base/bytes/record-layout.ts';
import { type AttrWithIds, PERF_ATTR_SIZE_VER0, readAttr, readIds } from '../samples/attr.ts';

// Records of the perf tool that describe events, used both to read a recording and to show single records. Source: as in tool-records.ts.

/** The name of the events with a config, before Linux 3.11. perf shortens the record to the length of the name; its struct has space for 64 bytes. */
export const EVENT_TYPE = new RecordLayout({ eventId: 'u64', name: text() });
/** The formats of tracepoints, which follow the record. */
export const TRACING_DATA = new RecordLayout({ dataSize: 'u32' });

/** Something about an event that its attr does not say: what it is, and the event's id. A value follows. */
export const EVENT_UPDATE = new RecordLayout({ updateType: 'u64', id: 'u64' });
/** What the value of EVENT_UPDATE is: a text, a double, a text, a CPU map. */
export const PERF_EVENT_UPDATE_UNIT = 0;
export const PERF_EVENT_UPDATE_SCALE = 1;
export const PERF_EVENT_UPDATE_NAME = 2;
export const PERF_EVENT_UPDATE_CPUS = 3;

/** A header feature: the number of its bit, and its bytes as a file has them. */
export const HEADER_FEATURE = new RecordLayout({ feature: 'int64', data: bytes() });

/** The CPU is −1 if a task is counted wherever it runs, the tid if a CPU is counted whatever runs there. */
const ID_INDEX_ENTRY = { id: 'u64', idx: 'u64', cpu: 'int64', tid: 'int64' } as const;
const ENTRY = new RecordLayout(ID_INDEX_ENTRY);
/** The process id of the virtual machine in which an id's event was recorded, 0 for the recorded machine itself. */
const ID_INDEX_GUEST = { machinePid: 'int64', vcpu: 'int64' } as const;
/** Which event, CPU and thread each id belongs to. The second list, as long as the first, is there only for guests. */
export const ID_INDEX = new RecordLayout({ entries: list('u64', ID_INDEX_ENTRY), guests: rest(ID_INDEX_GUEST) });
/** Bytes of an entry of ID_INDEX, and offsets in it. */
export const ID_INDEX_ENTRY_BYTES: number = ENTRY.minBytes - RECORD_HEADER_BYTES;
export const ID_INDEX_GUEST_BYTES: number = new RecordLayout(ID_INDEX_GUEST).minBytes - RECORD_HEADER_BYTES;
export const ID_INDEX_ENTRY_AT = {
  id: ENTRY.at.id - RECORD_HEADER_BYTES,
  cpu: ENTRY.at.cpu - RECORD_HEADER_BYTES,
  tid: ENTRY.at.tid - RECORD_HEADER_BYTES,
};

/**
 * HEADER_ATTR: one event, with the ids that the kernel gave it.
 * @param at offset of the record's header
 * @returns what is wrong, as the end of a sentence, if the attr does not fit
 */
export function readHeaderAttr(view: ByteView, at: number, end: number): AttrWithIds | string {
  const start = at + RECORD_HEADER_BYTES;
  if (start + PERF_ATTR_SIZE_VER0 > end) return fieldsOverrun(RECORD_HEADER_BYTES + PERF_ATTR_SIZE_VER0, end - at);
  const attrSize = view.u32(start + 4) || PERF_ATTR_SIZE_VER0;
  if (attrSize < PERF_ATTR_SIZE_VER0) return `attr of ${attrSize} bytes is too small in record of ${end - at} bytes`;
  if (start + attrSize > end) return `attr of ${attrSize} bytes overruns record of ${end - at} bytes`;
  return { attr: readAttr(view, start, attrSize, at), ids: readIds(view, start + attrSize, end) };
}
