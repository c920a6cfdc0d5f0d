import { Buffer } from 'node:buffer';
import type { BlockingSource } from '../../../../src/base/streams/blocking-source.ts';

/** One record as a test writes it; the names are those of jitdump-specification.txt. Absent numbers are 0. */
export type JitRecordSpec =
  | {
      readonly load: string;
      readonly at: bigint;
      readonly code: number;
      readonly index?: bigint;
      readonly time?: bigint;
      readonly codeSize?: bigint;
      readonly instructions?: readonly number[];
    }
  | { readonly move: bigint; readonly to: bigint; readonly time?: bigint }
  | { readonly debug: bigint; readonly lines: readonly (readonly [at: bigint, line: number, discriminator: number, file: string])[]; readonly count?: bigint }
  | { readonly other: number; readonly body: Uint8Array }
  | { readonly raw: Uint8Array };

export interface JitDumpSpec {
  readonly bigEndian?: boolean;
  readonly elfMach?: number;
  readonly pad1?: number;
  readonly flags?: bigint;
  readonly headerBytes?: number;
  readonly records: readonly JitRecordSpec[];
}

/** Writes a jitdump file, independently of the reader. */
export function encodeJitDump({ bigEndian = false, elfMach = 62, pad1 = 0, flags = 0n, headerBytes = 40, records }: JitDumpSpec): Uint8Array {
  const u32 = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    if (bigEndian) bytes.writeUInt32BE(value);
    else bytes.writeUInt32LE(value);
    return bytes;
  };
  const u64 = (value: bigint): Buffer => {
    const bytes = Buffer.alloc(8);
    if (bigEndian) bytes.writeBigUInt64BE(BigInt.asUintN(64, value));
    else bytes.writeBigUInt64LE(BigInt.asUintN(64, value));
    return bytes;
  };
  const text = (value: string): Buffer => Buffer.from(`${value}\0`, 'latin1');
  const record = (id: number, time: bigint, ...body: readonly Uint8Array[]): Buffer => {
    const payload = Buffer.concat(body);
    return Buffer.concat([u32(id), u32(16 + payload.length), u64(time), payload]);
  };
  const task = [u32(12), u32(12), u64(0n)];
  const encode = (spec: JitRecordSpec): Uint8Array => {
    if ('raw' in spec) return spec.raw;
    if ('load' in spec) {
      const code = Buffer.alloc(spec.code, 0xcc);
      code.set(spec.instructions ?? []);
      return record(0, spec.time ?? 0n, ...task, u64(spec.at), u64(spec.codeSize ?? BigInt(spec.code)), u64(spec.index ?? 0n), text(spec.load), code);
    }
    if ('move' in spec) return record(1, spec.time ?? 0n, ...task, u64(0n), u64(spec.to), u64(16n), u64(spec.move));
    if ('debug' in spec) {
      const entries = spec.lines.flatMap(([at, line, discriminator, file]) => [u64(at), u32(line), u32(discriminator), text(file)]);
      return record(2, 0n, u64(spec.debug), u64(spec.count ?? BigInt(spec.lines.length)), ...entries);
    }
    return record(spec.other, 0n, spec.body);
  };
  const header = Buffer.concat([
    u32(0x4a695444),
    u32(1),
    u32(headerBytes),
    u32(elfMach),
    u32(pad1),
    u32(12),
    u64(0n),
    u64(flags),
    Buffer.alloc(headerBytes - 40),
  ]);
  // Not a Buffer, whose slices share its memory.
  return new Uint8Array(Buffer.concat([header, ...records.map(encode)]));
}

/** A file in memory that can be read at once. */
export function blockingSource(bytes: Uint8Array, name = '/tmp/jit-12.dump'): BlockingSource & { isOpen: boolean } {
  return {
    name,
    sizeBytes: bytes.length,
    isOpen: true,
    readNow(position, target) {
      const part = bytes.subarray(position, position + target.length);
      target.set(part);
      return part.length;
    },
    close() {
      this.isOpen = false;
    },
  };
}
