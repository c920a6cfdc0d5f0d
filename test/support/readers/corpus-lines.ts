import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { type Features, readFeature } from '../../../src/perfdata/features/features.ts';
import type { LegacyHeaderRecord, PerfRecord, SampleRecord } from '../../../src/perfdata/records/perf-record.ts';
import type { SampleId } from '../../../src/perfdata/samples/sample-id.ts';

// The corpus's expectations, line by line, as its independent decoder prints them: tab-separated columns, the first two
// of which are a record's type and offset. See the README of the corpus.

/**
 * The record as a line of the corpus's expectations; undefined for one that they leave out: descriptions of events, build
 * ids, and records of compressed data.
 */
export function lineOf(record: PerfRecord, littleEndian: boolean): string | undefined {
  if (record.type === 'SAMPLE') return sampleLine(record);
  if (LEFT_OUT.has(record.type)) return undefined;
  const tool = fieldsOfTool(record, littleEndian);
  if (tool !== undefined) return [nameOf(record), record.offset, tool].join('\t');
  const sampleId = 'sampleId' in record ? record.sampleId : undefined;
  return [record.type, record.offset, fieldsOfKernel(record), `misc=${hex(record.misc, '0x')}`, trailerText(sampleId)].join('\t');
}

const LEFT_OUT: ReadonlySet<string> = new Set(['HEADER_ATTR', 'HEADER_EVENT_TYPE', 'HEADER_BUILD_ID', 'COMPRESSED', 'COMPRESSED2']);

/** The type's name in the expectations and in the inventory. */
export function nameOf(record: PerfRecord): string {
  switch (record.type) {
    case 'LEGACY_HEADER':
      return `LEGACY_HEADER_${record.name}`;
    case 'SIMPLEPERF':
      return `SP_${record.name}`;
    default:
      return record.type;
  }
}

/** A line with its trailer fields in the order of {@link lineOf}: the decoder prints them backwards, as they are in the record. */
export function withSortedTrailer(line: string): string {
  const columns = line.split('\t');
  if (columns[0] === 'SAMPLE' || columns.length !== 5) return line;
  columns[4] = columns[4].split(' ').sort().join(' ');
  return columns.join('\t');
}

function trailerText(sampleId: SampleId | undefined): string {
  if (sampleId === undefined) return '';
  return Object.entries({ ...sampleId, stream: sampleId.streamId, streamId: undefined })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join(' ');
}

function fieldsOfKernel(record: PerfRecord): string {
  switch (record.type) {
    case 'MMAP':
      return [record.pid, record.tid, hex(record.addr), hex(record.len), hex(record.pgoff), record.filename].join(' ');
    case 'MMAP2': {
      const file = record.buildId === undefined ? `${record.maj}:${record.min} ino=${record.ino} gen=${record.inoGeneration}` : `buildid=${record.buildId}`;
      const range = [record.pid, record.tid, hex(record.addr), hex(record.len), hex(record.pgoff)].join(' ');
      const protection = record.prot === undefined ? '' : `prot=${record.prot} flags=${hex(record.flags ?? 0)} `;
      return `${range} ${file} ${protection}${record.filename}`;
    }
    case 'COMM':
      return `${record.pid} ${record.tid} ${record.comm}${record.isExec ? ' exec' : ''}`;
    case 'FORK':
    case 'EXIT':
      return [record.pid, record.ppid, record.tid, record.ptid, record.time].join(' ');
    case 'LOST':
      return `id=${record.id} lost=${record.lost}`;
    case 'LOST_SAMPLES':
      return `lost=${record.lost}`;
    case 'THROTTLE':
    case 'UNTHROTTLE':
      return [record.time, record.id, record.streamId].join(' ');
    case 'AUX':
      return `off=${hex(record.auxOffset)} size=${hex(record.auxSize)} flags=${hex(record.flags)}`;
    case 'ITRACE_START':
      return `${record.pid} ${record.tid}`;
    case 'SWITCH':
      return record.isOut ? 'out' : 'in';
    case 'SWITCH_CPU_WIDE':
      return `${record.isOut ? 'out' : 'in'} ${record.nextPrevPid} ${record.nextPrevTid}`;
    case 'NAMESPACES':
      return `${record.pid} ${record.tid} nr=${record.links.length}`;
    case 'KSYMBOL':
      return `${hex(record.addr)} ${record.len} type=${record.ksymType} flags=${record.flags} ${record.name}`;
    case 'BPF_EVENT':
      return `type=${record.bpfType} flags=${record.flags} id=${record.id} tag=${bytesText(record.tag)}`;
    case 'CGROUP':
      return `${record.id} ${record.path}`;
    case 'DAMAGED':
      return record.problem;
    default:
      throw new Error(`the corpus has no ${record.type}: how would it print one?`);
  }
}

function fieldsOfTool(record: PerfRecord, littleEndian: boolean): string | undefined {
  switch (record.type) {
    case 'AUXTRACE':
      return `size=${record.auxSize} offset=${hex(record.auxOffset)} ref=${hex(record.reference)} idx=${record.idx} tid=${record.tid} cpu=${record.cpu}`;
    case 'EVENT_UPDATE':
      return `kind=${record.updateType} id=${record.id}`;
    case 'HEADER_FEATURE':
      return record.data.length === 0 ? `end mark ${record.feature}` : record.name;
    case 'HEADER_TRACING_DATA':
      return `size=${record.dataSize} inside`;
    case 'LEGACY_HEADER':
      return legacyText(record, littleEndian);
    case 'AUXTRACE_INFO':
    case 'CPU_MAP':
    case 'FINISHED_INIT':
    case 'FINISHED_ROUND':
    case 'ID_INDEX':
    case 'SIMPLEPERF':
    case 'THREAD_MAP':
    case 'TIME_CONV':
      return `size=${record.size}`;
    default:
      return undefined;
  }
}

/** The text of a header string, as Python prints it; the size of those whose content the decoder does not read. */
function legacyText({ feature, data, offset }: LegacyHeaderRecord, littleEndian: boolean): string {
  const features: Features = { present: new Set() };
  readFeature(features, feature, new ByteView(data, littleEndian), offset, new Diagnostics());
  const { hostname, osrelease, version, arch, cpudesc, cpuid, nrCpusAvailable, nrCpusOnline, totalMemKib, cmdline, eventDesc } = features;
  const plain = hostname ?? osrelease ?? version ?? arch ?? cpudesc ?? cpuid ?? totalMemKib;
  if (plain !== undefined) return String(plain);
  if (nrCpusOnline !== undefined) return `[${nrCpusOnline}, ${nrCpusAvailable}]`;
  if (cmdline !== undefined) return `[${cmdline.map((word) => `'${word}'`).join(', ')}]`;
  if (eventDesc !== undefined) return `[${eventDesc.map(({ name, ids }) => `('${name}', ${ids.length})`).join(', ')}]`;
  return `${data.length} bytes`;
}

function sampleLine(record: SampleRecord): string {
  const { branchStack, read, userStack } = record;
  const branches = branchStack?.entries.map((entry) => {
    const flags = [entry.mispred, entry.predicted, entry.inTx, entry.abort].reduce((word, flag, bit) => word | (flag ? 1n << BigInt(bit) : 0n), 0n);
    const word = flags | (BigInt(entry.cycles) << 4n) | (BigInt(entry.type) << 20n) | (BigInt(entry.spec) << 24n) | (BigInt(entry.newType) << 26n);
    return `${hex(entry.from)}>${hex(entry.to)}:${hex(word | (BigInt(entry.priv) << 30n))}`;
  });
  const named: [string, unknown][] = [
    ['id', record.id ?? record.identifier],
    ['stream', record.streamId],
    ['weight', record.weight],
    ['data_src', record.dataSrc],
    ['txn', record.transaction],
    ['phys', record.physAddr],
    ['cgroup', record.cgroup],
    ['dps', record.dataPageSize],
    ['cps', record.codePageSize],
    ['hw_idx', branchStack?.hwIdx],
  ];
  return [
    'SAMPLE',
    record.offset,
    record.event.name,
    ...[record.pid, record.tid, record.cpu, record.time].map((value) => value ?? '-'),
    record.ip === undefined ? '-' : hex(record.ip),
    record.period ?? '-',
    `misc=${hex(record.misc, '0x')}`,
    optional('addr=', record.addr, hex),
    optional('cc=', record.callchain, (ips) => ips.map((ip) => hex(ip)).join(',')),
    optional('br=', branches, (texts) => texts.join(',')),
    optional('raw=', record.raw, bytesText),
    optional('ustack=', userStack && userStack.size > 0 ? userStack : undefined, ({ dynSize }) => String(dynSize)),
    optional(
      'read=',
      read,
      ({ values }) => `[${values.map(({ value, id, lost }) => `[${[value, id, lost].filter((one) => one !== undefined).join(', ')}]`).join(', ')}]`,
    ),
    ...named.filter(([, value]) => value !== undefined).map(([name, value]) => `${name}=${value}`),
  ].join('\t');
}

function optional<T>(prefix: string, value: T | undefined, text: (value: T) => string): string {
  return value === undefined ? '-' : prefix + text(value);
}

function hex(value: number | bigint, prefix = ''): string {
  return prefix + value.toString(16);
}

function bytesText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
