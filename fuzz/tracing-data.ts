import { ByteWriter } from '../test/support/perf-encoder.ts';

const COMMON_FIELDS = `	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;
`;

/** Two events as debugfs describes them. `__proto__` is a name of a field like any other. */
const FORMATS: readonly string[] = [
  `name: sched_switch
ID: 1
format:
${COMMON_FIELDS}
	field:int number;	offset:8;	size:4;	signed:1;
	field:char comm[16];	offset:12;	size:16;	signed:0;
	field:__data_loc char[] text;	offset:28;	size:4;	signed:0;

print fmt: "number=%d comm=%s text=%s flags=%s sum=%lu", REC->number, REC->comm, __get_str(text), __print_flags(REC->number, "|", {1, "A"}, {2, "B"}), (unsigned long)((REC->number + 1) << 2)
`,
  `name: __proto__
ID: 2
format:
${COMMON_FIELDS}
	field:int __proto__;	offset:8;	size:4;	signed:1;
	field:u8 constructor[16];	offset:12;	size:16;	signed:0;
	field:u32 toString;	offset:28;	size:4;	signed:0;

print fmt: "%d %s %x", REC->__proto__, __print_symbolic(REC->toString, { 0, "zero" }, { 1, "one" }), REC->number ? REC->toString : -1
`,
];

const PAGE_HEADER = `	field: u64 timestamp;	offset:0;	size:8;	signed:0;
	field: local_t commit;	offset:8;	size:8;	signed:1;
	field: char data;	offset:16;	size:4080;	signed:1;
`;

/** The payload of TRACING_DATA: two tracepoints of one system, kallsyms, printk formats and names of processes. */
export function tracingData(byteOrder: 'little' | 'big'): Uint8Array {
  const out = new ByteWriter(byteOrder);
  const text = (value: string): Uint8Array => new TextEncoder().encode(value);
  const block = (value: string): void => {
    out.u64(BigInt(text(value).length)).raw(text(value));
  };
  out.raw(Uint8Array.of(23, 8, 68)).raw(text('tracing0.6\0'));
  out
    .u8(byteOrder === 'big' ? 1 : 0)
    .u8(8)
    .u32(4096);
  out.raw(text('header_page\0'));
  block(PAGE_HEADER);
  out.raw(text('header_event\0'));
  block('# compressed entry header\n');
  out.u32(1);
  block(FORMATS[0]);
  out.u32(1).raw(text('sched\0')).u32(FORMATS.length);
  FORMATS.forEach(block);
  const symbols = text('ffffffff81000000 T _text\n');
  out.u32(symbols.length).raw(symbols);
  const printk = text('0xffffffff82000000 : "format %d"\n');
  out.u32(printk.length).raw(printk);
  block('100 app\n101 __proto__\n');
  return out.bytes();
}
