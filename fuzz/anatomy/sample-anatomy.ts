import type { AttrShape, Field } from './anatomy.ts';
import type { BoundedView } from './bounded-view.ts';

const BRANCH_HW_INDEX = 1 << 17;
const BRANCH_COUNTERS = 1 << 19;
const READ_GROUP = 1 << 3;

/** Walks a sample step by step. Each step adds the counts that it meets to `fields` and moves on. */
interface Walk {
  readonly view: BoundedView;
  readonly shape: AttrShape;
  readonly fields: Field[];
  at: number;
}

const words = (walk: Walk, count: number): void => {
  walk.at += count * 8;
};

/** A count, followed by that many entries. */
function counted(walk: Walk, sizeBytes: number, entryBytes: number, wordsBetween = 0): number {
  const { view, fields, at } = walk;
  if (at + sizeBytes > view.length) return 0;
  fields.push({ offset: at, sizeBytes });
  const count = Number(view.get(at, sizeBytes));
  walk.at += sizeBytes + wordsBetween * 8 + count * entryBytes;
  return count;
}

function read(walk: Walk): void {
  const { readFormat } = walk.shape;
  const times = (readFormat & 1) + ((readFormat >> 1) & 1);
  const entryWords = 1 + ((readFormat >> 2) & 1) + ((readFormat >> 4) & 1);
  if ((readFormat & READ_GROUP) === 0) words(walk, times + entryWords);
  else counted(walk, 8, entryWords * 8, times);
}

function branches(walk: Walk): void {
  const { branchSampleType } = walk.shape;
  const count = counted(walk, 8, 24, (branchSampleType & BRANCH_HW_INDEX) === 0 ? 0 : 1);
  if ((branchSampleType & BRANCH_COUNTERS) !== 0) words(walk, count);
}

function registers(walk: Walk, mask: bigint): void {
  walk.fields.push({ offset: walk.at, sizeBytes: 8 });
  const hasNone = walk.view.u64(walk.at) === 0n;
  words(walk, 1);
  for (let bits = hasNone ? 0n : mask; bits > 0n; bits >>= 1n) if ((bits & 1n) === 1n) words(walk, 1);
}

function stack(walk: Walk): void {
  if (counted(walk, 8, 1) === 0) return;
  walk.fields.push({ offset: walk.at, sizeBytes: 8 });
  words(walk, 1);
}

/** PERF_SAMPLE_* bits in the order of their fields, each with the step that walks over it. Source: perf_event.h. */
const STEPS: readonly (readonly [bit: number, step: (walk: Walk) => void])[] = [
  ...[16, 0, 1, 2, 3, 6, 9, 7, 8].map((bit): readonly [number, (walk: Walk) => void] => [bit, (walk) => words(walk, 1)]),
  [4, read],
  [5, (walk) => counted(walk, 8, 8)],
  [10, (walk) => counted(walk, 4, 1)],
  [11, branches],
  [12, (walk) => registers(walk, walk.shape.regsUser)],
  [13, stack],
  ...[14, 24, 15, 17].map((bit): readonly [number, (walk: Walk) => void] => [bit, (walk) => words(walk, 1)]),
  [18, (walk) => registers(walk, walk.shape.regsIntr)],
  ...[19, 21, 22, 23].map((bit): readonly [number, (walk: Walk) => void] => [bit, (walk) => words(walk, 1)]),
  [20, (walk) => counted(walk, 8, 1)],
];

/** The counts and sizes in a PERF_RECORD_SAMPLE whose fields are from `start` to `end`. */
export function sampleFields(view: BoundedView, start: number, end: number, shape: AttrShape): Field[] {
  const walk: Walk = { view, shape, fields: [], at: start };
  for (const [bit, step] of STEPS) {
    if (((shape.sampleType >>> bit) & 1) === 0) continue;
    if (!(walk.at < end)) break;
    step(walk);
  }
  return walk.fields.filter((field) => field.offset + field.sizeBytes <= Math.min(end, view.length));
}
