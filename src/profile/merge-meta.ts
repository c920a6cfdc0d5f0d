import type { ProfileInput, ProfileMeta } from './profile.ts';

/** More names than these become `a.data and 4 more`. */
const MAX_NAMES = 3;

/**
 * What is true of several recordings together: what all of them say, the earliest start, and their total time. Source: pprof's own merging keeps the smallest
 * time_nanos and adds up duration_nanos.
 * @param inputs at least one
 */
export function mergeMeta(inputs: readonly ProfileInput[]): ProfileMeta {
  const metas = inputs.map(({ meta }) => meta);
  const starts = metas.flatMap(({ captureTimeNs }) => captureTimeNs ?? []);
  const wallClocks = metas.flatMap(({ startTime, wallClockOffsetNs }) => (wallClockOffsetNs === undefined ? [] : startTime + wallClockOffsetNs));
  const hasWallClock = wallClocks.length === metas.length;
  const text = (read: (meta: ProfileMeta) => string): string => (metas.every((meta) => read(meta) === read(metas[0])) ? read(metas[0]) : '');
  const isSameCommand = metas.every(({ commandLine }) => commandLine.join('\0') === metas[0].commandLine.join('\0'));
  return {
    inputName: inputName(inputs.map(({ label }) => label)),
    perfVersion: text((meta) => meta.perfVersion),
    commandLine: isSameCommand ? metas[0].commandLine : [],
    hostName: text((meta) => meta.hostName),
    osRelease: text((meta) => meta.osRelease),
    arch: text((meta) => meta.arch),
    cpuCount: metas.every(({ cpuCount }) => cpuCount === metas[0].cpuCount) ? metas[0].cpuCount : undefined,
    captureTimeNs: starts.length === 0 ? undefined : earliest(starts),
    // No other clock is common to all of them.
    startTime: hasWallClock ? earliest(wallClocks) : 0n,
    wallClockOffsetNs: hasWallClock ? 0n : undefined,
    durationNs: metas.reduce((sum, meta) => sum + meta.durationNs, 0),
    ...filterOf(inputs),
  };
}

/** Recordings may have been read with different filters: then it says which one has which. */
function filterOf(inputs: readonly ProfileInput[]): Pick<ProfileMeta, 'filter'> {
  const filters = inputs.map(({ meta }) => meta.filter);
  const [filter] = filters;
  if (filters.every((one) => one === filter)) return filter === undefined ? {} : { filter };
  return { filter: inputs.flatMap(({ label }, index) => (filters[index] === undefined ? [] : `${label}: ${filters[index]}`)).join('; ') };
}

function earliest(times: readonly bigint[]): bigint {
  return times.reduce((a, b) => (b < a ? b : a));
}

function inputName(labels: readonly string[]): string {
  if (labels.length <= MAX_NAMES) return labels.join(', ');
  return `${labels[0]} and ${labels.length - 1} more`;
}
