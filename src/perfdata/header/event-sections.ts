import { ByteView } from '../../base/bytes/byte-view.ts';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { type ByteSource, readRange } from '../../base/streams/byte-source.ts';
import { type AttrWithIds, PERF_ATTR_SIZE_VER0, readAttr, readIds } from '../samples/attr.ts';
import { damagedHeader, FILE_HEADER, FILE_SECTION, FILE_SECTION_BYTES, readSection } from './file-header-layout.ts';

// The sections of a file that say which events were recorded.

/** Where the header says how much space the attrs take. */
const ATTRS_SIZE_OFFSET = FILE_HEADER.attrs + FILE_SECTION.size;
/** The kernel takes no attr that is larger than a page (`perf_copy_attr`). */
const MAX_ATTR_ENTRY_BYTES = 4096;
/** struct perf_trace_event_type: config (u64) and name (64 bytes). */
const EVENT_TYPE_BYTES = 72;
const MAX_EVENT_TYPES = 4096;
/** A kernel's tracepoints take about 3,000 attrs, each with an id for every CPU or thread. The file's size does not limit these sections: it may have holes. */
const MAX_ATTRS_BYTES = 16 << 20;
const MAX_IDS_BYTES = 32 << 20;

/** An entry of the event_types section, or a HEADER_EVENT_TYPE record: the name of the events with this config. */
export interface EventType {
  readonly config: bigint;
  readonly name: string;
}

/** The attrs section: structs of `attr_size` bytes, each an attr followed by the section that holds its ids. `perf sched stats record` writes none. */
export async function readAttrs(source: ByteSource, header: ByteView, diagnostics: Diagnostics): Promise<AttrWithIds[]> {
  const stride = header.u64(FILE_HEADER.attrSize);
  const { offset: start, size } = readSection(header, FILE_HEADER.attrs);
  if (stride < PERF_ATTR_SIZE_VER0 + FILE_SECTION_BYTES || stride > MAX_ATTR_ENTRY_BYTES) throw damagedHeader(`attr_size is ${stride}`, FILE_HEADER.attrSize);
  if (source.sizeBytes !== undefined && size > 0 && start + size > source.sizeBytes) {
    throw damagedHeader(`attrs of ${size} bytes overrun the file`, ATTRS_SIZE_OFFSET);
  }
  if (size > MAX_ATTRS_BYTES) throw damagedHeader(`attrs of ${size} bytes are too many for any recording`, ATTRS_SIZE_OFFSET);
  const excess = size % stride;
  if (excess > 0) {
    const message = `the attrs take ${size} bytes, which is no multiple of attr_size ${stride}: the last ${excess} were not read, an event may be missing`;
    diagnostics.add('attrs-damaged', 'warning', message, ATTRS_SIZE_OFFSET);
  }
  const bytes = await readRange(source, start, size);
  const view = new ByteView(bytes, header.littleEndian);
  const attrs: AttrWithIds[] = [];
  let idBytesLeft = Math.min(MAX_IDS_BYTES, source.sizeBytes ?? MAX_IDS_BYTES);
  for (let at = 0; at + stride <= bytes.length; at += stride) {
    const attr = readAttr(view, at, stride - FILE_SECTION_BYTES, start + at);
    const idsAt = at + stride - FILE_SECTION_BYTES;
    const { offset: idsStart, size: idsSize } = readSection(view, idsAt);
    const isInside = source.sizeBytes === undefined || idsStart + idsSize <= source.sizeBytes;
    // Sections that overlap each other would be read once for each attr.
    const isRead = isInside && idsSize <= idBytesLeft;
    if (isRead) idBytesLeft -= idsSize;
    else
      diagnostics.add(
        'ids-damaged',
        'warning',
        `the ids of attr ${attrs.length} overrun the file, or are too many; the event is read without them`,
        start + idsAt,
      );
    const idBytes = isRead ? await readRange(source, idsStart, idsSize) : new Uint8Array(0);
    attrs.push({ attr, ids: readIds(new ByteView(idBytes, header.littleEndian), 0, idBytes.length) });
  }
  return attrs;
}

/** The event_types section that perf wrote before Linux 3.11. What does not fit the format is ignored. */
export async function readEventTypes(source: ByteSource, header: ByteView): Promise<EventType[]> {
  const { offset, size } = readSection(header, FILE_HEADER.eventTypes);
  if (size === 0 || size % EVENT_TYPE_BYTES !== 0 || size > MAX_EVENT_TYPES * EVENT_TYPE_BYTES) return [];
  const view = new ByteView(await readRange(source, offset, size), header.littleEndian);
  const types: EventType[] = [];
  for (let at = 0; at + EVENT_TYPE_BYTES <= view.length; at += EVENT_TYPE_BYTES) types.push(readEventType(view, at, at + EVENT_TYPE_BYTES));
  return types;
}

/** struct perf_trace_event_type from `at` to `end`; a record's is only as long as the name. */
export function readEventType(view: ByteView, at: number, end: number): EventType {
  return { config: view.big(at), name: view.text(at + 8, end) };
}
