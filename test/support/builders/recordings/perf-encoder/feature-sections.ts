import { type ByteOrder, ByteWriter } from './byte-writer.ts';

// Sections that say how a machine is built and what ran on it, from the perf tool's description of its file format
// (perf.data-file-format.txt), bpf.h, and sections that perf wrote.

export interface CpuTopologySpec {
  readonly cores: readonly string[];
  readonly threads: readonly string[];
  /** One for each CPU that NRCPUS counts; absent as in perf before Linux 4.3. */
  readonly cpus?: readonly { readonly coreId: number; readonly socketId: number; readonly dieId?: number }[];
  /** With it every CPU has a die; absent as in perf before Linux 5.3. */
  readonly dies?: readonly string[];
}

export interface CacheSpec {
  readonly level: number;
  readonly lineSize: number;
  readonly sets: number;
  readonly ways: number;
  readonly type: string;
  readonly size: string;
  readonly map: string;
}

export interface MemTopologySpec {
  readonly blockSize: bigint;
  /** `bits`: size of the bitmap; `memory`: numbers of the bits that are set. */
  readonly nodes: readonly { readonly node: bigint; readonly bits: number; readonly memory: readonly number[] }[];
}

export interface BpfProgSpec {
  readonly id: number;
  readonly type: number;
  readonly name: string;
  /** 8 bytes. */
  readonly tag: Uint8Array;
  readonly jited: Uint8Array;
  readonly functions: readonly { readonly address: bigint; readonly size: number; readonly tag: Uint8Array; readonly typeId?: number }[];
  readonly btfId?: number;
  /** `file`: the offset of its name among the strings of the BTF object. */
  readonly lines?: readonly { readonly address: bigint; readonly file: number; readonly line: number; readonly column: number }[];
  /** Size of struct bpf_prog_info: 224 as of Linux 5.16, less before. */
  readonly infoSize?: number;
}

export type Caps = readonly { readonly name: string; readonly value: string }[];

export interface CpuDomainsSpec {
  readonly schedstatVersion: number;
  readonly maxDomains: number;
  readonly cpus: readonly {
    readonly cpu: number;
    readonly domains: readonly { readonly domain: number; readonly name: string; readonly mask: string; readonly list: string }[];
  }[];
}

/** perf_header_string: its length, with the padding that perf adds, comes before it. */
export function writeString(out: ByteWriter, text: string): void {
  const sizeBytes = Math.ceil((new TextEncoder().encode(text).length + 1) / 64) * 64;
  out.u32(sizeBytes).fixedString(text, sizeBytes);
}

function writeStringList(out: ByteWriter, texts: readonly string[]): void {
  out.u32(texts.length);
  for (const text of texts) writeString(out, text);
}

export function writeCpuTopology(out: ByteWriter, { cores, threads, cpus, dies }: CpuTopologySpec): void {
  writeStringList(out, cores);
  writeStringList(out, threads);
  for (const { coreId, socketId } of cpus ?? []) out.u32(coreId >>> 0).u32(socketId >>> 0);
  if (dies === undefined) return;
  writeStringList(out, dies);
  for (const { dieId } of cpus ?? []) out.u32((dieId ?? 0) >>> 0);
}

export function writeNumaTopology(out: ByteWriter, nodes: readonly { node: number; total: bigint; free: bigint; cpus: string }[]): void {
  out.u32(nodes.length);
  for (const { node, total, free, cpus } of nodes) {
    out.u32(node).u64(total).u64(free);
    writeString(out, cpus);
  }
}

export function writeCaches(out: ByteWriter, caches: readonly CacheSpec[]): void {
  out.u32(1).u32(caches.length);
  for (const { level, lineSize, sets, ways, type, size, map } of caches) {
    out.u32(level).u32(lineSize).u32(sets).u32(ways);
    for (const text of [type, size, map]) writeString(out, text);
  }
}

export function writeMemTopology(out: ByteWriter, { blockSize, nodes }: MemTopologySpec): void {
  out.u64(1n).u64(blockSize).u64(BigInt(nodes.length));
  for (const { node, bits, memory } of nodes) {
    out.u64(node).u64(BigInt(bits)).u64(BigInt(bits));
    const words = new BigUint64Array(Math.ceil(bits / 64));
    for (const bit of memory) words[Math.floor(bit / 64)] |= 1n << BigInt(bit % 64);
    for (const word of words) out.u64(word);
  }
}

export function writeAuxtraceIndex(out: ByteWriter, entries: readonly { offset: bigint; size: bigint }[]): void {
  out.u64(BigInt(entries.length));
  for (const { offset, size } of entries) out.u64(offset).u64(size);
}

/** struct perf_bpil per program: sizes, a word that says which arrays are there, struct bpf_prog_info, the arrays. */
export function writeBpfPrograms(out: ByteWriter, programs: readonly BpfProgSpec[], newWriter: () => ByteWriter): void {
  out.u32(programs.length);
  for (const program of programs) {
    const count = program.functions.length;
    const data = newWriter();
    data.raw(program.jited).align(8);
    const addresses = data.length;
    for (const { address } of program.functions) data.u64(address);
    const sizes = data.length;
    for (const { size } of program.functions) data.u32(size);
    data.align(8);
    const tags = data.length;
    for (const { tag } of program.functions) data.raw(tag);
    const funcInfo = data.length;
    for (const { typeId } of program.functions) data.u32(0).u32(typeId ?? 0);
    const { lines = [] } = program;
    const lineInfo = data.length;
    for (const { file, line, column } of lines)
      data
        .u32(0)
        .u32(file)
        .u32(0)
        .u32(line * 1024 + column);
    const jitedLineInfo = data.length;
    for (const { address } of lines) data.u64(address);

    const info = newWriter();
    info.u32(program.type).u32(program.id).raw(program.tag);
    info.u32(program.jited.length).u32(0).u64(0n).u64(0n); // jited_prog_insns is at 0 of the data
    info.u64(0n).u32(0).u32(0).u64(0n); // load_time, uid, maps
    info.fixedString(program.name, 16);
    info.u32(0).u32(1).u64(0n).u64(0n); // ifindex, gpl_compatible, netns
    info.u32(count).u32(count).u64(BigInt(addresses)).u64(BigInt(sizes));
    info
      .u32(program.btfId ?? 0)
      .u32(8)
      .u64(BigInt(funcInfo))
      .u32(count)
      .u32(lines.length)
      .u64(BigInt(lineInfo))
      .u64(BigInt(jitedLineInfo))
      .u32(lines.length)
      .u32(16)
      .u32(8);
    info.u32(count).u64(BigInt(tags)).zeros(32);
    const infoSize = program.infoSize ?? info.length;
    out.u32(infoSize).u32(data.length).u64(0x1f9n);
    out.raw(info.bytes().subarray(0, infoSize)).raw(data.bytes());
  }
}

export function writeBtf(out: ByteWriter, objects: readonly { id: number; data: Uint8Array }[]): void {
  out.u32(objects.length);
  for (const { id, data } of objects) out.u32(id).u32(data.length).raw(data);
}

/** A BTF object of an int, a struct of two members and functions: the first function has type id 3, each further one two more. */
export function btfObject(byteOrder: ByteOrder, functions: readonly string[]): Uint8Array {
  const strings = new ByteWriter(byteOrder);
  strings.u8(0);
  const nameOf = (text: string): number => {
    const at = strings.length;
    strings.raw(new TextEncoder().encode(text)).u8(0);
    return at;
  };
  const types = new ByteWriter(byteOrder);
  const type = (kind: number, members: number, name: string, sizeOrType: number): ByteWriter =>
    types
      .u32(name === '' ? 0 : nameOf(name))
      .u32(kind * 2 ** 24 + members)
      .u32(sizeOrType);
  type(1, 0, 'int', 4).u32(32);
  type(4, 2, 'pair', 8).zeros(24);
  functions.forEach((name, i) => {
    type(12, 0, name, 4 + 2 * i);
    type(13, 1, '', 1).u32(0).u32(1);
  });
  const out = new ByteWriter(byteOrder);
  out.u16(0xeb9f).u8(1).u8(0).u32(24).u32(0).u32(types.length).u32(types.length).u32(strings.length);
  return out.raw(types.bytes()).raw(strings.bytes()).bytes();
}

export function writeCaps(out: ByteWriter, caps: Caps): void {
  out.u32(caps.length);
  for (const { name, value } of caps) {
    writeString(out, name);
    writeString(out, value);
  }
}

export function writePmuCaps(out: ByteWriter, pmus: readonly { pmu: string; caps: Caps }[]): void {
  out.u32(pmus.length);
  for (const { pmu, caps } of pmus) {
    writeCaps(out, caps);
    writeString(out, pmu);
  }
}

export function writeHybridTopology(out: ByteWriter, pmus: readonly { pmu: string; cpus: string }[]): void {
  out.u32(pmus.length);
  for (const { pmu, cpus } of pmus) {
    writeString(out, pmu);
    writeString(out, cpus);
  }
}

export function writeCpuDomains(out: ByteWriter, { schedstatVersion, maxDomains, cpus }: CpuDomainsSpec): void {
  out.u32(schedstatVersion).u32(maxDomains);
  for (const { cpu, domains } of cpus) {
    out.u32(cpu).u32(domains.length);
    for (const { domain, name, mask, list } of domains) {
      out.u32(domain);
      if (schedstatVersion >= 17) writeString(out, name);
      writeString(out, mask);
      writeString(out, list);
    }
  }
}
