import type { AttrSpec } from './attr.ts';
import { ByteWriter } from './byte-writer.ts';
import { encodeRecord, type ForeignFeature } from './file.ts';
import type { RecordSpec } from './kernel-records.ts';

// What simpleperf writes besides perf's records and features. Source of the layouts: simpleperf's record.cpp, record_file_writer.cpp
// and record_file.proto. It writes little-endian only.

function ownRecord(type: number, writeBody: (out: ByteWriter) => void): RecordSpec {
  return { type, misc: 0, attr: 0, writeBody };
}

export interface UnwindingResultSpec {
  readonly time?: bigint;
  readonly usedTime?: bigint;
  readonly errorCode?: bigint;
  readonly errorAddr?: bigint;
  readonly stackStart?: bigint;
  readonly stackEnd?: bigint;
  /** Absent: a recording from before 2020, which ends before the registers. */
  readonly regs?: { readonly abi: bigint; readonly mask: bigint; readonly values: readonly bigint[] };
  readonly stack?: { readonly data: Uint8Array; readonly dynSize: bigint };
  /** Absent: from before 2021. */
  readonly callchain?: { readonly ips: readonly bigint[]; readonly sps: readonly bigint[] };
}

export const simpleperfRecords = {
  kernelSymbol: (kallsyms: string): RecordSpec =>
    ownRecord(32769, (out) => {
      const bytes = new TextEncoder().encode(kallsyms);
      out
        .u32(bytes.length)
        .raw(bytes)
        .zeros((8 - (bytes.length % 8)) % 8);
    }),
  dso: (fields: { type: bigint; id: bigint; minVaddr?: bigint; name: string }): RecordSpec =>
    ownRecord(32770, (out) =>
      out
        .u64(fields.type)
        .u64(fields.id)
        .u64(fields.minVaddr ?? 0n)
        .cString(fields.name),
    ),
  symbol: (fields: { addr: bigint; len: bigint; dsoId: bigint; name: string }): RecordSpec =>
    ownRecord(32771, (out) => out.u64(fields.addr).u64(fields.len).u64(fields.dsoId).cString(fields.name)),
  /** Each entry says to which attr an id belongs. */
  eventId: (entries: readonly { attr: bigint; id: bigint }[]): RecordSpec =>
    ownRecord(32774, (out) => {
      out.u64(BigInt(entries.length));
      for (const { attr, id } of entries) out.u64(attr).u64(id);
    }),
  callchain: (fields: { pid: number; tid: number; type: bigint; time: bigint; ips: readonly bigint[]; sps: readonly bigint[] }): RecordSpec =>
    ownRecord(32775, (out) => {
      out.u32(fields.pid).u32(fields.tid).u64(fields.type).u64(fields.time).u64(BigInt(fields.ips.length));
      for (const word of [...fields.ips, ...fields.sps]) out.u64(word);
    }),
  unwindingResult: (fields: UnwindingResultSpec): RecordSpec =>
    ownRecord(32776, (out) => {
      out
        .u64(fields.time ?? 0n)
        .u64(fields.usedTime ?? 0n)
        .u64(fields.errorCode ?? 0n)
        .u64(fields.errorAddr ?? 0n);
      out.u64(fields.stackStart ?? 0n).u64(fields.stackEnd ?? 0n);
      if (fields.regs === undefined) return;
      out.u64(fields.regs.abi).u64(fields.regs.mask);
      for (const value of fields.regs.values) out.u64(value);
      out.u64(BigInt(fields.stack?.data.length ?? 0));
      if (fields.stack !== undefined) out.raw(fields.stack.data).u64(fields.stack.dynSize);
      if (fields.callchain === undefined) return;
      out.u64(BigInt(fields.callchain.ips.length));
      for (const word of [...fields.callchain.ips, ...fields.callchain.sps]) out.u64(word);
    }),
  tracingData: (data: Uint8Array): RecordSpec =>
    ownRecord(32777, (out) =>
      out
        .u32(data.length)
        .raw(data)
        .zeros((64 - (data.length % 64)) % 64),
    ),
  debug: (fields: { time: bigint; text: string }): RecordSpec => ownRecord(32778, (out) => out.u64(fields.time).cString(fields.text)),
  /** A record of any type and body. */
  own: (type: number, body: Uint8Array): RecordSpec => ownRecord(type, (out) => out.raw(body)),
  split: (piece: Uint8Array): RecordSpec => ownRecord(32772, (out) => out.raw(piece)),
  splitEnd: (): RecordSpec => ownRecord(32773, () => {}),
} as const;

/** A record as simpleperf writes it when it is too large for perf to skip: in pieces. */
export function splitRecord(record: RecordSpec, attrs: readonly AttrSpec[], pieceBytes: number): RecordSpec[] {
  const whole = encodeRecord(record, attrs);
  const pieces: RecordSpec[] = [];
  for (let at = 0; at < whole.length; at += pieceBytes) pieces.push(simpleperfRecords.split(whole.subarray(at, at + pieceBytes)));
  return [...pieces, simpleperfRecords.splitEnd()];
}

/** DSO types, as the FILE features write them. */
export const dsoType = { kernel: 0, kernelModule: 1, elf: 2, dex: 3, symbolMap: 4, unknown: 5 } as const;

/** A binary of FILE or FILE2. */
export interface SimpleperfFileSpec {
  readonly path: string;
  readonly type: number;
  readonly minVaddr?: bigint;
  readonly symbols?: readonly { readonly vaddr: bigint; readonly len: number; readonly name: string }[];
  readonly dexFileOffsets?: readonly bigint[];
  /** In the file for an ELF file, in memory for a module. Absent: as in FILE from before 2019. */
  readonly offsetOfMinVaddr?: bigint;
}

export const simpleperfFeatures = {
  file: (files: readonly SimpleperfFileSpec[]): ForeignFeature => ({ bit: 128, bytes: sized(files.map(fileStruct)) }),
  metaInfo: (info: Readonly<Record<string, string>>): ForeignFeature => ({
    bit: 129,
    bytes: new TextEncoder().encode(
      Object.entries(info)
        .map(([key, value]) => `${key}\0${value}\0`)
        .join(''),
    ),
  }),
  debugUnwind: (files: readonly { path: string; size: bigint }[]): ForeignFeature => ({
    bit: 130,
    bytes: joined(files.map(({ path, size }) => messageField(1, joined([textField(1, path), numberField(2, size)])))),
  }),
  debugUnwindFile: (bytes: Uint8Array): ForeignFeature => ({ bit: 131, bytes }),
  file2: (files: readonly SimpleperfFileSpec[]): ForeignFeature => ({ bit: 132, bytes: sized(files.map(fileMessage)) }),
  initMap: (records: readonly RecordSpec[], attrs: readonly AttrSpec[]): ForeignFeature => ({
    bit: 134,
    bytes: joined(records.map((record) => encodeRecord(record, attrs))),
  }),
} as const;

function fileStruct(file: SimpleperfFileSpec): Uint8Array {
  const out = new ByteWriter('little');
  const text = (value: string): ByteWriter => out.raw(new TextEncoder().encode(value)).u8(0);
  const symbols = file.symbols ?? [];
  text(file.path)
    .u32(file.type)
    .u64(file.minVaddr ?? 0n)
    .u32(symbols.length);
  for (const { vaddr, len, name } of symbols) {
    out.u64(vaddr).u32(len);
    text(name);
  }
  if (file.type === dsoType.dex) {
    out.u32(file.dexFileOffsets?.length ?? 0);
    for (const offset of file.dexFileOffsets ?? []) out.u64(offset);
  }
  if (file.offsetOfMinVaddr !== undefined) out.u64(file.offsetOfMinVaddr);
  return out.bytes();
}

function fileMessage(file: SimpleperfFileSpec): Uint8Array {
  const fields = [textField(1, file.path), numberField(2, BigInt(file.type)), numberField(3, file.minVaddr ?? 0n)];
  for (const { vaddr, len, name } of file.symbols ?? [])
    fields.push(messageField(4, joined([numberField(1, vaddr), numberField(2, BigInt(len)), textField(3, name)])));
  if (file.dexFileOffsets !== undefined) fields.push(messageField(5, messageField(1, joined(file.dexFileOffsets.map(varint)))));
  if (file.offsetOfMinVaddr !== undefined) {
    fields.push(messageField(file.type === dsoType.kernelModule ? 7 : 6, numberField(1, file.offsetOfMinVaddr)));
  }
  return joined(fields);
}

/** proto3 leaves out zeros. */
function numberField(field: number, value: bigint): Uint8Array {
  return value === 0n ? new Uint8Array(0) : joined([varint(BigInt(field * 8)), varint(value)]);
}

function textField(field: number, text: string): Uint8Array {
  return messageField(field, new TextEncoder().encode(text));
}

function messageField(field: number, message: Uint8Array): Uint8Array {
  return joined([varint(BigInt(field * 8 + 2)), varint(BigInt(message.length)), message]);
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

function sized(structs: readonly Uint8Array[]): Uint8Array {
  return joined(structs.flatMap((bytes) => [new ByteWriter('little').u32(bytes.length).bytes(), bytes]));
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const out = new ByteWriter('little');
  for (const part of parts) out.raw(part);
  return out.bytes();
}
