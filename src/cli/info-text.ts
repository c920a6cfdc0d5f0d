import { printable } from '../errors.ts';
import type { EventInfo, RecordingInfo } from '../recording-info.ts';
import { diagnosticText, displayName } from './messages.ts';

/** What `perfconv info` prints for people. */
export function infoText(info: RecordingInfo): string {
  const lines = [
    ...facts([
      ['recording', displayName(info.input)],
      ['size', info.sizeBytes === undefined ? undefined : `${info.sizeBytes} bytes`],
      ['form', `${info.mode}, ${info.byteOrder}-endian`],
      ['host', info.hostName],
      ['kernel', info.osRelease],
      ['machine', [info.arch, info.cpuDescription].filter((part) => part !== undefined).join(', ') || undefined],
      ['cpus', info.cpusOnline === undefined ? undefined : `${info.cpusOnline} online of ${info.cpusAvailable}`],
      ['memory', info.totalMemKib === undefined ? undefined : `${info.totalMemKib} KiB`],
      ['perf', info.perfVersion],
      ['command', info.commandLine?.join(' ')],
      ['captured', info.captureTime],
      ['time', timeText(info)],
      ['samples', String(info.sampleCount)],
      ['processes', `${info.processCount} with ${info.threadCount} threads`],
      ['features', info.features.join(' ') || undefined],
    ]),
    '',
    'events:',
    ...info.events.flatMap(eventLines),
    '',
    `records: ${info.recordCount}`,
    ...Object.entries(info.records).map(([name, count]) => `${String(count).padStart(12)}  ${name}`),
  ];
  if (info.diagnostics.length > 0) lines.push('', 'findings:', ...info.diagnostics.map((finding) => `  ${finding.severity}: ${diagnosticText(finding)}`));
  return `${lines.map(printable).join('\n')}\n`;
}

/** Names and values in two columns; what is not known is left out. */
function facts(rows: readonly (readonly [name: string, value: string | undefined])[]): string[] {
  const known = rows.filter((row): row is readonly [string, string] => row[1] !== undefined);
  const width = Math.max(...known.map(([name]) => name.length)) + 2;
  return known.map(([name, value]) => `${`${name}:`.padEnd(width)}${value}`);
}

function eventLines(event: EventInfo): string[] {
  const rate = event.sampleFreq === undefined ? `every ${event.samplePeriod}` : `${event.sampleFreq} per second`;
  return [
    `  ${event.name}: ${event.samples} samples, period ${event.period}`,
    `    type ${event.type}, config ${event.config}, ${rate}${event.preciseIp > 0 ? `, precise ${event.preciseIp}` : ''}`,
    `    fields: ${event.sampleType.join(' ') || 'none'}`,
    `    flags: ${event.flags.join(' ') || 'none'}`,
  ];
}

function timeText({ firstSampleNs, lastSampleNs }: RecordingInfo): string | undefined {
  if (firstSampleNs === undefined || lastSampleNs === undefined) return undefined;
  const duration = BigInt(lastSampleNs) - BigInt(firstSampleNs);
  return `${secondsText(BigInt(firstSampleNs))} to ${secondsText(BigInt(lastSampleNs))} (${secondsText(duration)} s)`;
}

function secondsText(ns: bigint): string {
  return `${ns / 1_000_000_000n}.${String(ns % 1_000_000_000n).padStart(9, '0')}`;
}
