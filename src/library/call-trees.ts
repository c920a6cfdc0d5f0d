import { arrayOf, demand, type OptionChecks, oneOf } from '../base/problems/check-options.ts';
import { abortSignal, type CallOptions } from '../base/streams/cancellation.ts';
import { withoutUndefined } from '../base/without-undefined.ts';
import { TREE_LEVELS, type TreeLevel, UNKNOWN_CODE, type UnknownCode, WEIGHTS } from '../pipeline/choices.ts';
import { shownProfile } from '../pipeline/shown-profile-cache.ts';
import type { Profile } from '../profile/profile.ts';
import { UNKNOWN_IN_STACKS } from '../profile/unknown-code.ts';
import type { Weight } from '../profile/weight.ts';
import { percentOf } from '../writers/percent.ts';
import type { OmittedCalls as OmittedSums, TreeRow } from '../writers/report/shown-calls.ts';
import { type EventTree, ReportTree } from '../writers/report/tree.ts';
import { limit } from './report.ts';

/** Which calls a tree has. Names and defaults are those of `perfconv report --tree`. */
export interface CallTreeOptions extends CallOptions {
  /** What comes above the functions: `comm`, `pid`, `tid`, `input`. Default: nothing, all samples of an event share a tree. */
  readonly sort?: readonly TreeLevel[];
  /** What percentages and the order go by. Default: periods. */
  readonly weight?: Weight;
  /** Calls with a smaller share of their event are left out, and added up; 0 for every call. Default: 0.5. */
  readonly percentLimit?: number;
  /** Calls of an event at most: the heaviest ones. Default: all. */
  readonly limit?: number;
  /** How code without symbols is shown. Default: `binary`; `address` with `compat: 'perf'`. */
  readonly unknown?: UnknownCode;
}

/** Calls that are left out, added up. */
export interface OmittedCalls {
  /** How many callees of one function. */
  readonly calls: number;
  readonly samples: number;
  readonly period: number;
  readonly percent: number;
}

/** A call: a function with all that it was called by. A level that `sort` adds has its own field in place of `function` and `dso`. */
export interface Call extends Readonly<Partial<Record<TreeLevel | 'function' | 'dso', string>>> {
  /** Index of the caller among the calls; −1 for a root. */
  readonly parent: number;
  /** How many calls are above it. */
  readonly depth: number;
  /** Whether the function was inlined into its caller. */
  readonly isInlined: boolean;
  /** With those of what it called. */
  readonly samples: number;
  /** Sum of their periods; beyond 2^53 the nearest number. */
  readonly period: number;
  /** Share of the event's samples or periods, in percent. */
  readonly percent: number;
  /** The same without those of what it called. */
  readonly selfSamples: number;
  readonly selfPeriod: number;
  readonly selfPercent: number;
  /** Its callees that are left out; undefined if there are none. */
  readonly omitted: OmittedCalls | undefined;
}

/** The calls of an event. */
export interface CallTree {
  /** Name of the event. */
  readonly event: string;
  /** A flat list, since stacks may be thousands of calls deep: callers before callees, heavier callees first. */
  readonly calls: readonly Call[];
  /** Roots that are left out; undefined if there are none. */
  readonly omitted: OmittedCalls | undefined;
}

/** Checks of the options of a profile's `callTrees()`. */
export const CALL_TREE_CHECKS: OptionChecks<CallTreeOptions> = {
  sort: arrayOf(TREE_LEVELS),
  weight: oneOf(WEIGHTS),
  percentLimit: (option, value) => demand(typeof value === 'number' && value >= 0 && value <= 100, option, value, 'a percentage from 0 to 100'),
  unknown: oneOf(UNKNOWN_CODE),
  limit,
  signal: abortSignal,
};

/** @throws PerfconvError `no-samples` */
export function callTrees(profile: Profile, { sort, unknown, ...options }: CallTreeOptions, compatPerf: boolean): CallTree[] {
  const shown = shownProfile(profile, unknown ?? (compatPerf ? 'address' : UNKNOWN_IN_STACKS));
  const report = new ReportTree(shown, withoutUndefined({ ...options, levels: sort }));
  return [...report.trees()].map((tree) => ({
    event: profile.events[tree.event].name,
    calls: tree.rows.map((row) => callOf(report, tree, row)),
    omitted: omittedOf(report, tree, tree.omitted),
  }));
}

function callOf(report: ReportTree, tree: EventTree, { parent, depth, label, total, self, omitted }: TreeRow): Call {
  const { level, name, dso, isInlined } = label;
  return {
    parent,
    depth,
    ...(level === undefined ? { function: name, dso } : { [level]: name }),
    isInlined,
    samples: total.samples,
    period: total.period,
    percent: percentOf(report.weight(total), tree.sum),
    selfSamples: self.samples,
    selfPeriod: self.period,
    selfPercent: percentOf(report.weight(self), tree.sum),
    omitted: omittedOf(report, tree, omitted),
  };
}

function omittedOf(report: ReportTree, { sum }: EventTree, omitted: OmittedSums | undefined): OmittedCalls | undefined {
  if (omitted === undefined) return undefined;
  const { calls, samples, period } = omitted;
  return { calls, samples, period, percent: percentOf(report.weight(omitted), sum) };
}
