import type { ByteView } from '../../base/bytes/byte-view.ts';

const BTF_MAGIC = 0xeb9f;
/** struct btf_header: magic, version, flags, hdr_len, type_off, type_len, str_off, str_len. */
const HEADER_BYTES = 24;
/** struct btf_type: name_off, info, size or type. */
const TYPE_BYTES = 12;
const BTF_KIND_FUNC = 12;

/** Bytes after struct btf_type, by kind: a fixed number, and a number for each member. Kinds that are not listed have none. */
const TAIL_BYTES: Readonly<Record<number, readonly [fixed: number, perMember: number]>> = {
  1: [4, 0], // INT
  3: [12, 0], // ARRAY
  4: [0, 12], // STRUCT
  5: [0, 12], // UNION
  6: [0, 8], // ENUM
  13: [0, 8], // FUNC_PROTO
  14: [4, 0], // VAR
  15: [0, 12], // DATASEC
  17: [4, 0], // DECL_TAG
  19: [0, 12], // ENUM64
};
const NEWEST_KIND = 19;

/** Longer file names are cut. */
const MAX_STRING_BYTES = 4096;

/** The string at an offset of a BTF object's strings; empty when there is none. */
export function readBtfString(view: ByteView, at: number, sizeBytes: number, offset: number): string {
  if (sizeBytes < HEADER_BYTES || view.u16(at) !== BTF_MAGIC) return '';
  const strings = at + view.u32(at + 4) + view.u32(at + 16);
  const end = Math.min(strings + view.u32(at + 20), at + sizeBytes);
  return strings + offset < end ? view.text(strings + offset, Math.min(end, strings + offset + MAX_STRING_BYTES)) : '';
}

/**
 * Names of functions in a BTF object, by type id. Source: the kernel's description of BTF (Documentation/bpf/btf.rst).
 * A type that is cut off, or of a kind that is not known yet, ends the walk: what comes before it is returned.
 * @param at where the object begins
 * @param wanted type ids of the functions
 */
export function readFunctionNames(view: ByteView, at: number, sizeBytes: number, wanted: ReadonlySet<number>): Map<number, string> {
  const names = new Map<number, string>();
  if (sizeBytes < HEADER_BYTES || view.u16(at) !== BTF_MAGIC) return names;
  const body = at + view.u32(at + 4);
  const strings = body + view.u32(at + 16);
  const stringsEnd = Math.min(strings + view.u32(at + 20), at + sizeBytes);
  const typesEnd = Math.min(body + view.u32(at + 8) + view.u32(at + 12), at + sizeBytes);
  // Type 0 is void and not written.
  let id = 1;
  for (let type = body + view.u32(at + 8); type + TYPE_BYTES <= typesEnd; id++) {
    const info = view.u32(type + 4);
    const kind = (info >>> 24) & 0x1f;
    if (kind === 0 || kind > NEWEST_KIND) break;
    const name = strings + view.u32(type);
    if (kind === BTF_KIND_FUNC && wanted.has(id) && name < stringsEnd) names.set(id, view.text(name, stringsEnd));
    const [fixed, perMember] = TAIL_BYTES[kind] ?? [0, 0];
    type += TYPE_BYTES + fixed + (info & 0xffff) * perMember;
  }
  return names;
}
