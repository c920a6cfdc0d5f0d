import type { ByteOrder } from './byte-writer.ts';
import { ByteWriter } from './byte-writer.ts';

/** One field of a tracepoint: its declaration in C, its offset and size in bytes. */
export interface TraceFieldSpec {
  readonly declaration: string;
  readonly offset: number;
  readonly size: number;
  readonly signed?: boolean;
}

export interface TraceFormatSpec {
  readonly name: string;
  readonly id: number;
  /** After the four that all tracepoints have, which take 8 bytes. */
  readonly fields: readonly TraceFieldSpec[];
  /** The text after `print fmt:`. */
  readonly printFmt: string;
}

export interface TracingDataSpec {
  readonly byteOrder?: ByteOrder;
  readonly version?: string;
  readonly longSize?: number;
  readonly systems: readonly { readonly name: string; readonly formats: readonly TraceFormatSpec[] }[];
  readonly printkFormats?: string;
  /** Lines of `tid comm`; default none. Written from version 0.6 on. */
  readonly cmdlines?: string;
}

const commonFields: readonly TraceFieldSpec[] = [
  { declaration: 'unsigned short common_type', offset: 0, size: 2 },
  { declaration: 'unsigned char common_flags', offset: 2, size: 1 },
  { declaration: 'unsigned char common_preempt_count', offset: 3, size: 1 },
  { declaration: 'int common_pid', offset: 4, size: 4, signed: true },
];

/** The text of a `format` file of tracefs. */
function traceFormatText({ name, id, fields, printFmt }: TraceFormatSpec): string {
  const line = ({ declaration, offset, size, signed = false }: TraceFieldSpec): string =>
    `\tfield:${declaration};\toffset:${offset};\tsize:${size};\tsigned:${signed ? 1 : 0};\n`;
  return `name: ${name}\nID: ${id}\nformat:\n${commonFields.map(line).join('')}\n${fields.map(line).join('')}\nprint fmt: ${printFmt}\n`;
}

const pageHeader = [
  { declaration: ' u64 timestamp', offset: 0, size: 8 },
  { declaration: ' local_t commit', offset: 8, size: 8, signed: true },
  { declaration: ' int overwrite', offset: 8, size: 1, signed: true },
  { declaration: ' char data', offset: 16, size: 4080 },
];

/** The bytes of the TRACING_DATA feature. Source: trace-cmd.dat(5), and files that perf wrote. */
export function encodeTracingData(spec: TracingDataSpec): Uint8Array {
  const { byteOrder = 'little', version = '0.6', longSize = 8, systems, printkFormats = '', cmdlines = '' } = spec;
  const writer = new ByteWriter(byteOrder);
  const text = (content: string): Uint8Array => new TextEncoder().encode(content);
  const sized = (content: string, sizeBytes: 4 | 8): void => {
    const bytes = text(content);
    if (sizeBytes === 4) writer.u32(bytes.length).raw(bytes);
    else writer.u64(BigInt(bytes.length)).raw(bytes);
  };
  writer
    .u8(0x17)
    .u8(0x08)
    .u8(0x44)
    .raw(text(`tracing${version}\0`));
  writer
    .u8(byteOrder === 'big' ? 1 : 0)
    .u8(longSize)
    .u32(4096);
  writer.raw(text('header_page\0'));
  sized(
    pageHeader
      .map(({ declaration, offset, size, signed }) => `\tfield:${declaration};\toffset:${offset};\tsize:${size};\tsigned:${signed ? 1 : 0};\n`)
      .join(''),
    8,
  );
  writer.raw(text('header_event\0'));
  sized('', 8);
  writer.u32(0);
  writer.u32(systems.length);
  for (const { name, formats } of systems) {
    writer.raw(text(`${name}\0`)).u32(formats.length);
    for (const format of formats) sized(traceFormatText(format), 8);
  }
  sized('', 4);
  sized(printkFormats, 4);
  if (version === '0.6') sized(cmdlines, 8);
  return writer.bytes();
}
