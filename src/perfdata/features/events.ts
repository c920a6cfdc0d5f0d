import type { FeatureReaders, SectionReader } from '../../base/bytes/section-reader.ts';
import { EVENT_LIMIT } from '../../base/names/name-limits.ts';
import * as abi from '../abi/constants.ts';
import { type PerfEventAttr, readAttr } from '../samples/attr.ts';

/** One event of the EVENT_DESC feature. */
export interface EventDescription {
  readonly attr: PerfEventAttr;
  readonly name: string;
  readonly ids: readonly bigint[];
}

/** A group of events that were counted together: `{cycles,instructions}`. */
export interface EventGroup {
  /** Its own name, or `{anon_group}`. */
  readonly name: string;
  /** Index of the first event. */
  readonly leaderIndex: number;
  readonly memberCount: number;
}

/** What was recorded. */
export interface EventFeatures {
  eventDesc?: readonly EventDescription[];
  groupDesc?: readonly EventGroup[];
  /** Samples carry branch stacks. */
  hasBranchStack?: true;
  /** The recording was made by `perf stat`: it has counts, but no samples. */
  isStat?: true;
}

/** Source: the perf tool's description of its file format. */
export const EVENT_READERS: FeatureReaders<EventFeatures> = {
  [abi.HEADER_EVENT_DESC]: (features, section) => {
    const events: EventDescription[] = [];
    features.eventDesc = events;
    const count = section.u32();
    const attrBytes = section.u32();
    section.fill(events, count, () => readEventDescription(section, attrBytes));
  },
  [abi.HEADER_GROUP_DESC]: (features, section) => {
    const groups: EventGroup[] = [];
    features.groupDesc = groups;
    section.fill(groups, section.u32(), () => ({ name: section.string(), leaderIndex: section.u32(), memberCount: section.u32() }));
  },
  [abi.HEADER_BRANCH_STACK]: (features) => {
    features.hasBranchStack = true;
  },
  [abi.HEADER_STAT]: (features) => {
    features.isStat = true;
  },
};

function readEventDescription(section: SectionReader, attrBytes: number): EventDescription {
  const at = section.skip(attrBytes);
  const attr = readAttr(section.view, at, attrBytes, section.fileOffset + at);
  const idCount = section.u32();
  const nameAt = section.at;
  const name = section.limited(section.string(), EVENT_LIMIT, nameAt);
  const ids: bigint[] = [];
  section.fill(ids, idCount, () => section.u64());
  return { attr, name, ids };
}
