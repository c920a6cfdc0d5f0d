import type { EventInfo } from '../info/recording-info.ts';
import { inlineList, wrapped } from './info-layout.ts';

const INDENT = '    ';

/** The lines about an event's attr below the event's name: what `perf evlist -v` prints, with its field names. */
export function attrLines({ attr, ids = [] }: EventInfo, verbose: boolean): string[] {
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
    ...wrapped(INDENT, values.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`])).join(', '), ', '),
    ...lists.flatMap(([name, each]) => (each === undefined || each.length === 0 ? [] : wrapped(`${INDENT}${`${name}:`.padEnd(14)} `, each.join(' ')))),
    ...(ids.length === 0 ? [] : wrapped(`${INDENT}${'ids:'.padEnd(14)} `, inlineList(ids, verbose, ' '))),
  ];
}
