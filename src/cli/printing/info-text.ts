import { printable } from '../../base/text/printable.ts';
import { secondsText } from '../../base/text/seconds.ts';
import type { EventInfo, RecordingInfo } from '../../info/recording-info.ts';
import { type Fact, facts, inlineList, LINE_WIDTH, list, wrapped } from './info-layout.ts';
import { machineFacts } from './info-machine-text.ts';
import { displayName, summaryLines } from './messages.ts';

const ATTR_INDENT = '    ';

export interface InfoTextOptions {
  /** Whether long lists are printed in full. */
  readonly verbose: boolean;
  /** Colors a heading, or returns it as it is. */
  readonly heading: (text: string) => string;
  /** The width of the terminal, at which text is wrapped if it is less than {@link LINE_WIDTH}. Default: that. */
  readonly width?: number;
}

/** How lists and long lines are printed. */
interface Layout {
  readonly verbose: boolean;
  readonly width: number;
}

/** What `perfconv info` prints without `--json`. */
export function infoText(info: RecordingInfo, { verbose, heading, ...terminal }: InfoTextOptions): string {
  const width = Math.min(terminal.width ?? LINE_WIDTH, LINE_WIDTH);
  const sections: readonly (readonly [title: string, lines: readonly string[]])[] = [
    ['Recording', facts(recordingFacts(info), width)],
    [
      'Simpleperf',
      facts(
        (info.simpleperf ?? []).map(({ name, value }) => [name, value.split('\n')]),
        width,
      ),
    ],
    [
      'Hiperf',
      facts(
        (info.hiperf ?? []).map(({ name, value }) => [name, value]),
        width,
      ),
    ],
    ['Machine', facts(machineFacts(info, verbose), width)],
    ['Events', eventLines(info, { verbose, width })],
    ['Records', recordLines(info)],
    ['BPF programs', bpfLines(info, { verbose, width })],
    ['Build ids', list(info.buildIds, verbose, ({ file, buildId }) => `  ${buildId.padEnd(40)}  ${file}`)],
    ['Findings', summaryLines(info.diagnostics).flatMap((line) => wrapped('  ', line, width))],
  ];
  const parts = sections.filter(([, lines]) => lines.length > 0).map(([title, lines]) => [heading(title), ...lines.map(printable)].join('\n'));
  return `${parts.join('\n\n')}\n`;
}

function recordingFacts(info: RecordingInfo): Fact[] {
  const { clock, compression, auxtrace } = info;
  const format = `${info.mode === 'pipe' ? 'pipe form of ' : ''}${info.headerVersion === 1 ? 'PERFFILE' : 'PERFILE2'}, ${info.byteOrder}-endian`;
  return [
    ['file', displayName(info.input)],
    ['size', info.sizeBytes === undefined ? undefined : `${count(info.sizeBytes)} bytes`],
    ['form', format],
    [
      'data',
      info.dataSizeBytes === undefined ? `from offset ${info.dataOffset} to the end` : `${count(info.dataSizeBytes)} bytes from offset ${info.dataOffset}`,
    ],
    ['written', info.modifiedTime && secondsOnly(info.modifiedTime)],
    ['command', info.commandLine?.map(quoted).join(' ')],
    ['perf', info.perfVersion],
    ['time', timeText(info)],
    ['wall clock', wallClockText(info)],
    ['clock', clockText(info)],
    ['reference', clock.reference && `${clock.reference.wallClock} is ${secondsText(clock.reference.clockNs)}`],
    ['samples', `${count(info.sampleCount)}${info.samplesOutOfOrder > 0 ? `, ${count(info.samplesOutOfOrder)} of them out of order` : ''}`],
    ['processes', `${count(info.processCount)} with ${counted(info.threadCount, 'thread')}`],
    ['compression', compression && `${compression.type === 1 ? 'zstd' : `type ${compression.type}`}, level ${compression.level}, ratio ${compression.ratio}`],
    ['directory', info.directoryVersion === undefined ? undefined : `layout version ${info.directoryVersion}`],
    ['hardware trace', auxtrace && `${counted(auxtrace.entries, 'piece')}, ${auxtrace.isDecoded ? 'of which samples were made' : 'not decoded'}`],
    ['branch stacks', info.hasBranchStacks ? 'yes' : undefined],
    ['perf stat', info.isStat ? 'counts, no samples' : undefined],
    ['features', info.features.join(' ') || undefined],
  ];
}

function eventLines(info: RecordingInfo, layout: Layout): string[] {
  const groups = (info.groups ?? []).map(({ name, events }) => `  group ${name ?? ''}{${events.map((event) => event.trim()).join(',')}}`);
  return [...list(info.events, layout.verbose, (event) => linesOfEvent(event, layout)), ...groups];
}

function linesOfEvent(event: EventInfo, layout: Layout): string[] {
  const counts = `${counted(event.samples, 'sample')}, period ${count(event.period)}`;
  return [`  ${event.name.trim()}: ${counts}`, ...attrLines(event, layout)];
}

/** The lines about an event's attr below the event's name: what `perf evlist -v` prints, with its field names. */
function attrLines({ attr, ids = [] }: EventInfo, { verbose, width }: Layout): string[] {
  const type = attr.typeName === undefined ? `${attr.type}` : `${attr.type} (${attr.typeName})`;
  const values: readonly (readonly [name: string, value: string | number | undefined])[] = [
    ['type', type],
    ['config', attr.config],
    ['config1', attr.config1],
    ['config2', attr.config2],
    ['config3', attr.config3],
    ['config4', attr.config4],
    ['bp_type', attr.bpType],
    ['bp_addr', attr.bpAddr],
    ['bp_len', attr.bpLen],
    ['sample_period', attr.samplePeriod],
    ['sample_freq', attr.sampleFreq],
    ['precise_ip', attr.preciseIp],
    ['wakeup_events', attr.wakeupEvents],
    ['wakeup_watermark', attr.wakeupWatermark],
    ['sample_regs_user', attr.sampleRegsUser],
    ['sample_stack_user', attr.sampleStackUser],
    ['clockid', attr.clockid],
    ['sample_regs_intr', attr.sampleRegsIntr],
    ['aux_watermark', attr.auxWatermark],
    ['sample_max_stack', attr.sampleMaxStack],
    ['aux_sample_size', attr.auxSampleSize],
    ['sig_data', attr.sigData],
    ['size', attr.sizeBytes],
  ];
  const lists: readonly (readonly [name: string, values: readonly (string | number)[] | undefined])[] = [
    ['samples carry', attr.sampleType],
    ['reads carry', attr.readFormat],
    ['branches', attr.branchSampleType],
    ['flags', attr.flags],
  ];
  return [
    ...wrapped(ATTR_INDENT, values.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`])).join(', '), width, ', '),
    ...lists.flatMap(([name, each]) =>
      each === undefined || each.length === 0 ? [] : wrapped(`${ATTR_INDENT}${`${name}:`.padEnd(14)} `, each.join(' '), width),
    ),
    ...(ids.length === 0 ? [] : wrapped(`${ATTR_INDENT}${'ids:'.padEnd(14)} `, inlineList(ids, verbose, ' '), width)),
  ];
}

/** Record counts by type, like `perf report --stats`. */
function recordLines({ records, recordCount }: RecordingInfo): string[] {
  const rows = [...Object.entries(records), ['total', recordCount] as const];
  const width = rows.reduce((most, [, number]) => Math.max(most, count(number).length), 0);
  return rows.map(([name, number]) => `  ${count(number).padStart(width)}  ${name.padEnd(20)} ${percent(number, recordCount)}`.trimEnd());
}

function bpfLines({ bpfPrograms = [], btf = [] }: RecordingInfo, { verbose, width }: Layout): string[] {
  const programs = list(bpfPrograms, verbose, ({ id, name, tag, functions }) => {
    const [first, ...called] = functions;
    const code = first && `  ${first.address} (${first.sizeBytes} bytes)${called.length > 0 && !verbose ? ` and ${called.length} more` : ''}`;
    const calls = verbose ? called.map((each) => `         calls ${each.name ?? ''} ${each.tag ?? ''}  ${each.address} (${each.sizeBytes} bytes)`) : [];
    return [`  ${String(id).padStart(5)}  ${tag}  ${first?.name ?? name}${code ?? ''}`, ...calls];
  });
  return btf.length === 0
    ? programs
    : [...programs, ...wrapped('  type information (BTF): ', btf.map(({ id, sizeBytes }) => `${id} (${sizeBytes} bytes)`).join(', '), width, ', ')];
}

function timeText({ time }: RecordingInfo): string | undefined {
  return time && `${secondsText(time.firstNs)} to ${secondsText(time.lastNs)} (${(time.durationNs / 1e9).toFixed(9)} s)`;
}

function wallClockText({ time }: RecordingInfo): string | undefined {
  if (time?.wallClockFirst === undefined || time.wallClockLast === undefined) return undefined;
  if (time.wallClockSource === 'end') return `about ${secondsOnly(time.wallClockFirst)}`;
  if (time.wallClockSource === 'file') return `about ${secondsOnly(time.wallClockFirst)}, if only perf has written to the file`;
  return `${time.wallClockFirst} to ${time.wallClockLast}`;
}

function clockText({ clock }: RecordingInfo): string {
  const name = clock.name === 'perf' ? "perf's own" : clock.name;
  return clock.resolutionNs === undefined ? name : `${name}, resolution ${clock.resolutionNs} ns`;
}

function secondsOnly(iso: string): string {
  return iso.replace(/\.\d+Z$/, 'Z');
}

/** A word of a command line, quoted for a shell where needed. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '' : `${((part / whole) * 100).toFixed(1).padStart(5)} %`;
}

/** `1 thread`, `2 threads`. */
function counted(number: number, one: string): string {
  return `${count(number)} ${one}${number === 1 ? '' : 's'}`;
}

/** A number with commas between thousands. */
function count(number: number | string): string {
  return BigInt(number).toLocaleString('en-US');
}
