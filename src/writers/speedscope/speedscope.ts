import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { ascendingOrder } from '../../base/tables/ascending-order.ts';
import { ExactSums } from '../../base/tables/exact-sums.ts';
import type { Profile, ProfileEvent } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import type { Weight } from '../../profile/weight.ts';
import type { Frame } from '../call-tree.ts';
import { everySample } from '../every-sample.ts';
import { FrameTree, UnresolvedFrame } from '../frame-tree.ts';
import { JsonWriter, quotedJson, utf8 } from '../json-text.ts';
import { leftHeavyRanks } from '../left-heavy.ts';
import { findTimelineEvent } from '../primary-event.ts';
import { type GroupKind, groupSamples, type SampleGroup, sortByTime, subjectsOf } from '../sample-groups.ts';
import { TextCache } from '../text-cache.ts';
import { cpuLabel, processLabel, threadLabel } from '../thread-names.ts';
import { wholeNumber } from '../whole-number.ts';
import { numberByUse } from './frame-numbers.ts';

export interface SpeedscopeOptions {
  /** There is a profile per event and per thread, process or CPU, or one per event. If several threads have profiles, one of all of them comes first. */
  readonly group: GroupKind;
  /** `period`: what perf counts, which is nanoseconds for clocks. `samples`: 1 for each sample. */
  readonly weight: Weight;
  /** Whether merged recordings have separate profiles in the group `all` too. Default: no. */
  readonly byInput?: boolean;
  /** Name of the document, shown in the title of the window. */
  readonly name: string;
  /** Name and version of the program: `perfconv@1.0.0`. */
  readonly exporter: string;
}

export interface SpeedscopeResult {
  /** Number of samples of weight 0. They are in the file, but speedscope does not show them. */
  readonly zeroWeightSamples: number;
  /** Whether mangled names were written with a leading space, so that the page does not demangle them. */
  readonly shieldedNames: boolean;
}

/** Names that the page of speedscope demangles after loading. */
const DEMANGLED_BY_PAGE = /^(_Z|__Z|_R)/;
/** At about 50,000 characters of names, the demangler runs out of memory, and the page does not open. Observed: speedscope 1.25. */
const MAX_MANGLED_CHARS = 16_000;

const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;

/**
 * Writes speedscope's own format (https://www.speedscope.app/file-format-schema.json): a `sampled` profile per event
 * and group, the busiest first, with one entry per sample in time order. Profiles of the event that
 * {@link findTimelineEvent} returns come first, and the first of all is shown.
 *
 * If several threads have profiles of an event, one of all threads comes before them. It has one entry for each distinct stack, in left-heavy order, so that it
 * is small and looks like a left-heavy graph in time order, too.
 *
 * The horizontal axis is weight, not wall time. Time in which a thread did not run has no entries, because speedscope
 * would add them to the total of the profile; so each total is the sum that perf reports. `file` is the source file if
 * it is known, else the DSO; speedscope chooses colors by it.
 *
 * @throws PerfconvError `usage` when the profile was read without its samples; whatever the sink throws
 */
export async function writeSpeedscope(profile: Profile, sink: ByteSink, options: SpeedscopeOptions): Promise<SpeedscopeResult> {
  const samples = everySample(profile, 'speedscope');
  const groups = sortedGroups(profile, samples, options);
  const tree = new FrameTree(profile);
  const frameNumbers = numberByUse(tree, samples);

  const out = new JsonWriter(sink);
  out.put('{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":');
  out.quoted(options.exporter);
  out.put(',"name":');
  out.quoted(options.name);
  out.put(',"activeProfileIndex":0,\n"shared":{"frames":[');
  const shieldedNames = hasTooManyMangled(tree.frames);
  const framesInOrder: Frame[] = [];
  for (const [frame, number] of frameNumbers.entries()) framesInOrder[number] = tree.frames[frame];
  await writeFrames(out, profile, framesInOrder, shieldedNames);
  out.put('\n]},\n"profiles":[');
  let zeroWeightSamples = 0;
  let separator = '\n';
  const writer = new ProfileWriter(out, profile, samples, { tree, frameNumbers }, options);
  const sums = options.group === 'thread' ? sumGroups(profile, samples, options) : [];
  for (const [index, group] of groups.entries()) {
    const isFirstOfEvent = index === 0 || groups[index - 1].event !== group.event;
    if (isFirstOfEvent && groups[index + 1]?.event === group.event) {
      for (const sum of sums.filter(({ event }) => event === group.event)) {
        out.put(separator);
        separator = ',\n';
        await writer.writeSum(sum);
      }
    }
    out.put(separator);
    separator = ',\n';
    zeroWeightSamples += await writer.write(group);
  }
  out.put('\n]}\n');
  await out.flush();
  return { zeroWeightSamples, shieldedNames };
}

/** Groups of samples by event, starting with the event that is shown first; within an event, the busiest first. */
function sortedGroups(profile: Profile, samples: SampleTable, options: SpeedscopeOptions): SampleGroup[] {
  const weight = (group: SampleGroup) => totalWeight(group, options);
  // CPU 0 may be a different CPU in each recording. Threads and processes belong to one recording anyway.
  const isByInput = profile.inputs !== undefined && (options.group === 'cpu' || (options.group === 'all' && options.byInput === true));
  const groups = groupSamples(samples, subjectsOf(profile, samples, options.group), isByInput ? inputOf(profile, samples) : () => -1);
  // Times of different recordings cannot be compared.
  if (profile.inputs === undefined) sortByTime(groups, samples);
  const shown = findTimelineEvent(profile);
  return groups.sort((a, b) => Number(b.event === shown) - Number(a.event === shown) || a.event - b.event || weight(b) - weight(a));
}

/** For each event, the samples of all threads, by input if these are kept apart. */
function sumGroups(profile: Profile, samples: SampleTable, options: SpeedscopeOptions): SampleGroup[] {
  const isByInput = profile.inputs !== undefined && options.byInput === true;
  const groups = groupSamples(samples, () => 0, isByInput ? inputOf(profile, samples) : () => -1);
  return groups.sort((a, b) => a.part - b.part);
}

/** Index of the input that a row of the sample table is from. */
function inputOf({ tasks, threads, processes }: Profile, samples: SampleTable): (row: number) => number {
  return (row) => processes[threads[tasks[samples.task[row]].thread].process].input ?? 0;
}

function totalWeight(group: SampleGroup, options: SpeedscopeOptions): number {
  return options.weight === 'period' ? group.period : group.rows.length;
}

function hasTooManyMangled(frames: readonly Frame[]): boolean {
  let chars = 0;
  for (const frame of frames) if (isMangled(frame)) chars += frame.name.length;
  return chars > MAX_MANGLED_CHARS;
}

/** Whether the page demangles the name of a frame. Names of unknown functions begin with an address. */
function isMangled(frame: Frame): boolean {
  return !(frame instanceof UnresolvedFrame) && DEMANGLED_BY_PAGE.test(frame.name);
}

async function writeFrames(out: JsonWriter, { mappings }: Profile, frames: readonly Frame[], shieldNames: boolean): Promise<void> {
  // A path may have 4 KB, and its file a hundred thousand addresses without a function. So what follows these addresses is encoded only once.
  const frameOf = new Map<number, UnresolvedFrame>();
  /** By index of the mapping plus 1. */
  const tails = new TextCache(mappings.length + 1, (slot) => tailBytes(frameOf.get(slot) as UnresolvedFrame));
  for (const [index, frame] of frames.entries()) {
    out.put(index === 0 ? '\n{"name":' : ',\n{"name":');
    if (frame instanceof UnresolvedFrame) {
      const slot = frame.mapping + 1;
      if (!frameOf.has(slot)) frameOf.set(slot, frame);
      out.put(`"${frame.address}`);
      out.bytes(tails.get(slot));
    } else {
      out.quoted(shieldNames && isMangled(frame) ? ` ${frame.name}` : frame.name);
      out.put(`${sourceText(frame)}}`);
    }
    if (out.isFull) await out.flush();
  }
}

/** The end of the frame of an unknown function, after its address. */
function tailBytes(frame: UnresolvedFrame): Uint8Array {
  return utf8(`${quotedJson(frame.addressSuffix).slice(1)}${sourceText(frame)}}`);
}

function sourceText({ file, line }: Frame): string {
  return `${file === '' ? '' : `,"file":${quotedJson(file)}`}${line > 0 ? `,"line":${line}` : ''}`;
}

class ProfileWriter {
  readonly #out: JsonWriter;
  readonly #profile: Profile;
  readonly #samples: SampleTable;
  readonly #tree: FrameTree;
  readonly #frameNumbers: Uint32Array;
  readonly #options: SpeedscopeOptions;
  readonly #path: number[] = [];

  /** @param stacks the complete tree, with the nodes of all samples, and the numbers of its frames in the document */
  constructor(
    out: JsonWriter,
    profile: Profile,
    samples: SampleTable,
    stacks: { readonly tree: FrameTree; readonly frameNumbers: Uint32Array },
    options: SpeedscopeOptions,
  ) {
    this.#out = out;
    this.#profile = profile;
    this.#samples = samples;
    this.#tree = stacks.tree;
    this.#frameNumbers = stacks.frameNumbers;
    this.#options = options;
  }

  /** Writes a profile with an entry for each sample. @returns how many of them weigh nothing */
  async write(group: SampleGroup): Promise<number> {
    const out = this.#out;
    const samples = this.#samples;
    this.#begin(group, this.#options.group);
    for (let i = 0; i < group.rows.length; i++) {
      // hot
      if (i > 0) out.char(COMMA);
      this.#stack(this.#tree.nodeOf(samples.stack[group.rows[i]]));
      if (out.isFull) await out.flush();
    }
    out.put('],\n"weights":[');
    let zeroWeights = 0;
    for (let i = 0; i < group.rows.length; i++) {
      const weight = this.#options.weight === 'period' ? samples.period[group.rows[i]] : 1;
      if (weight === 0) zeroWeights++;
      if (i > 0) out.char(COMMA);
      this.#weight(weight, weight <= Number.MAX_SAFE_INTEGER ? 0 : samples.periodRemainder(group.rows[i]));
      if (out.isFull) await out.flush();
    }
    out.put(']}');
    return zeroWeights;
  }

  /** Writes a profile of all threads with an entry for each distinct stack, in the order of a left-heavy graph. */
  async writeSum(group: SampleGroup): Promise<void> {
    const out = this.#out;
    const samples = this.#samples;
    const sums = new ExactSums();
    const selfWeight = new Float64Array(this.#tree.size);
    const isMet = new Uint8Array(this.#tree.size);
    for (const row of group.rows) {
      // hot
      const node = this.#tree.nodeOf(samples.stack[row]);
      isMet[node] = 1;
      if (this.#options.weight === 'period') sums.add(node, samples.period[row], samples.periodRemainder(row));
      else sums.add(node, 1);
      selfWeight[node] = sums.value(node);
    }
    const ranks = leftHeavyRanks(this.#tree, selfWeight);
    const nodes = Uint32Array.from(isMet.keys()).filter((node) => isMet[node] === 1);
    const order = ascendingOrder(Float64Array.from(nodes, (node) => ranks[node]));
    this.#begin(group, 'all');
    for (let i = 0; i < order.length; i++) {
      if (i > 0) out.char(COMMA);
      this.#stack(nodes[order[i]]);
      if (out.isFull) await out.flush();
    }
    out.put('],\n"weights":[');
    for (let i = 0; i < order.length; i++) {
      if (i > 0) out.char(COMMA);
      this.#weight(sums.value(nodes[order[i]]), sums.remainder(nodes[order[i]]));
      if (out.isFull) await out.flush();
    }
    out.put(']}');
  }

  /** Writes the start of a profile, up to its samples. */
  #begin(group: SampleGroup, kind: GroupKind): void {
    const out = this.#out;
    const event = this.#profile.events[group.event];
    const isPeriod = this.#options.weight === 'period';
    out.put('{"type":"sampled","name":');
    out.quoted(groupName(this.#profile, event, group, kind));
    const end = isPeriod ? wholeNumber(group.period, group.periodRemainder) : String(group.rows.length);
    out.put(`,"unit":"${isPeriod && event.unit === 'nanoseconds' ? 'nanoseconds' : 'none'}","startValue":0,"endValue":${end},\n"samples":[`);
  }

  /** Writes the frames of a stack, the outermost first. */
  #stack(stackNode: number): void {
    // hot
    const out = this.#out;
    const path = this.#path;
    out.char(OPEN_BRACKET);
    let depth = 0;
    for (let node = stackNode; node >= 0; node = this.#tree.parent(node)) path[depth++] = this.#frameNumbers[this.#tree.frame(node)];
    for (let at = depth - 1; at >= 0; at--) {
      out.number(path[at]);
      if (at > 0) out.char(COMMA);
    }
    out.char(CLOSE_BRACKET);
  }

  #weight(weight: number, remainder: number): void {
    if (weight <= Number.MAX_SAFE_INTEGER) this.#out.number(weight);
    else this.#out.put(wholeNumber(weight, remainder));
  }
}

/** `nginx (100) cycles`; with merged recordings `a.data: nginx (100) cycles`. */
function groupName(profile: Profile, event: ProfileEvent, { subject, part }: SampleGroup, kind: GroupKind): string {
  const { inputs, processes, threads } = profile;
  switch (kind) {
    case 'thread':
      return `${inputPrefix(inputs, processes[threads[subject].process].input)}${threadLabel(profile, subject)} ${event.name}`;
    case 'process':
      return `${inputPrefix(inputs, processes[subject].input)}${processLabel(profile, subject)} ${event.name}`;
    case 'cpu':
      return `${inputPrefix(inputs, part)}${cpuLabel(subject)} ${event.name}`;
    case 'all':
      return `${inputPrefix(inputs, part)}all threads ${event.name}`;
  }
}

/** @param input index into `inputs`; −1 for all of them */
function inputPrefix(inputs: Profile['inputs'], input = 0): string {
  const label = inputs?.[input]?.label;
  return label === undefined ? '' : `${label}: `;
}
