import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { TextWriter } from '../../base/streams/text-writer.ts';
import { placesIn } from '../../base/tables/ascending-order.ts';
import { ExactSums } from '../../base/tables/exact-sums.ts';
import { StringTable } from '../../base/tables/string-table.ts';
import { TupleInterner } from '../../base/tables/tuple-interner.ts';
import { inputLabel, isMadeAtRunTime, mappingText, NAMELESS } from '../../profile/names.ts';
import type { Profile, ProfileTask } from '../../profile/profile.ts';
import { leftOutEvents } from '../../profile/shown-events.ts';
import type { Weight } from '../../profile/weight.ts';
import { type FrameStyle, FrameTexts } from '../frame-texts.ts';
import { isKernelCode } from '../kernel-code.ts';
import { findMostSampledEvent } from '../primary-event.ts';
import { wholeNumber } from '../whole-number.ts';
import { FOLDED_MARKS, type FoldedMark } from './marks.ts';
import { FoldedTree } from './tree.ts';

export type { FoldedMark } from './marks.ts';

export interface FoldedOptions {
  /** Index of the event to write. Default: {@link findMostSampledEvent}. */
  readonly event?: number;
  /** What a line's number is the sum of. Default: periods. */
  readonly weight?: Weight;
  /**
   * Whether the name of the recording becomes the root frame of its stacks, so that merged recordings stay apart.
   * Default: no, equal stacks of all recordings are added up.
   */
  readonly byInput?: boolean;
  /** Which frames are marked. Default: those of the kernel. */
  readonly marks?: readonly FoldedMark[] | undefined;
  /** Gets a warning that names the events left out (`folded-one-event`), and a note on how to label numbers of nanoseconds in a graph (`folded-unit`). */
  readonly diagnostics?: Diagnostics;
}

/**
 * Writes folded stacks, the input of flamegraph.pl, inferno-flamegraph and speedscope: one line
 * `comm;main;…;leaf weight` for each distinct stack, root first.
 *
 * - Only one event is written, as stackcollapse-perf.pl and inferno-collapse-perf do, because adding up weights of
 *   different events makes no sense.
 * - Frames of the kernel and its modules end in `_[k]`, as with `stackcollapse-perf.pl --kernel`; `marks` chooses others, of which a frame gets at most one.
 *   Inlined functions are frames of their own. Resolved frames show no address, so stacks that differ only in addresses share a line.
 * - In names, `;` becomes `:`, and line breaks and tabs become spaces; in a comm, spaces become `_`, as in stackcollapse-perf.pl. Otherwise, names are those of
 *   the profile, in their style there.
 * - An unresolved frame, or a function without a name, shows its address and DSO: `0x4f2c1 (libfoo.so)`. A thread without a name is `[unknown]`. A sample
 *   without a stack is written as just its comm.
 * - Lines are sorted by comm, then frame by frame from the root (by UTF-16 code units), so that the same profile always
 *   gives the same bytes.
 *
 * @throws PerfconvError `no-samples` when the event has no samples
 */
export async function writeFolded(profile: Profile, sink: ByteSink, options: FoldedOptions = {}): Promise<void> {
  const event = options.event ?? findMostSampledEvent(profile);
  if (profile.events[event] === undefined || profile.events[event].samples === 0) {
    throw new PerfconvError('no-samples', 'no samples to write as folded stacks');
  }
  reportOtherEvents(profile, event, options.diagnostics);
  if (profile.events[event].unit === 'nanoseconds' && options.weight !== 'samples') {
    options.diagnostics?.add(
      'folded-unit',
      'info',
      'the numbers of folded stacks are nanoseconds: give flamegraph.pl --countname ns, or it calls them samples',
    );
  }

  const strings = new StringTable();
  const frames = new FrameTexts(profile, strings, foldedStyle(profile, options.marks ?? ['kernel']));
  const tree = new FoldedTree(profile.stacks, frames);
  const lines = new FoldedLines(profile, event, options, strings, tree);
  const out = new TextWriter(sink);
  for (const line of lines) {
    out.put(line);
    if (out.isFull) await out.flush();
  }
  await out.flush();
}

function reportOtherEvents(profile: Profile, event: number, diagnostics: Diagnostics | undefined): void {
  const others = leftOutEvents(profile, event);
  if (others === '' || diagnostics === undefined) return;
  diagnostics.add(
    'folded-one-event',
    'warning',
    `folded stacks hold only one event, ${profile.events[event].name}; left out (choose with ${diagnostics.option('event')}): ${others}`,
  );
}

function foldedStyle(profile: Profile, marks: readonly FoldedMark[]): FrameStyle {
  const [marksKernel, marksInlined, marksJit] = FOLDED_MARKS.map((mark) => marks.includes(mark));
  const clean = (name: string) => name.replaceAll(';', ':').replace(/[\t\n\v\f\r\x85\u2028\u2029]/g, ' ');
  const kernelMark = (location: number) => (marksKernel && isKernelCode(profile, location) ? '_[k]' : '');
  return {
    functionText: (name, location, isInlined) => {
      // flamegraph.pl looks at the last mark.
      const otherMark = () => (marksInlined && isInlined ? '_[i]' : marksJit && isJitCompiled(profile, location) ? '_[j]' : '');
      return clean(name) + (kernelMark(location) || otherMark());
    },
    addressSuffix: (location) => clean(mappingText(profile, profile.locations.mapping(location))) + kernelMark(location),
  };
}

/** Whether a location with a function is JIT-compiled code: of memory that is not a file's, only such code has names. */
function isJitCompiled({ locations, mappings }: Profile, location: number): boolean {
  const mapping = locations.mapping(location);
  return mapping >= 0 && isMadeAtRunTime(mappings[mapping]);
}

function inputOf(profile: Profile, { thread }: ProfileTask): string {
  return inputLabel(profile, profile.processes[profile.threads[thread].process]);
}

function commText(comm: string): string {
  return (comm || NAMELESS).replaceAll(';', ':').replace(/[\s\x85]/g, '_');
}

/** The lines of one event, with their weights added up, in sorted order. */
class FoldedLines {
  readonly #strings: StringTable;
  readonly #tree: FoldedTree;
  /** Rows (comm as a string index, preceded by the input with `byInput`; node). */
  readonly #rows: TupleInterner;
  readonly #weights = new ExactSums();

  constructor(profile: Profile, event: number, { weight = 'period', byInput = false }: FoldedOptions, strings: StringTable, tree: FoldedTree) {
    const { tasks, totals } = profile;
    this.#strings = strings;
    this.#tree = tree;
    this.#rows = new TupleInterner(2, Math.max(16, totals.size));
    const comms = new Uint32Array(tasks.map((task) => strings.intern(`${byInput ? `${commText(inputOf(profile, task))};` : ''}${commText(task.comm)}`)));
    for (let total = 0; total < totals.size; total++) {
      if (totals.event(total) !== event) continue;
      const row = this.#rows.intern(comms[totals.task(total)], tree.nodeOf(totals.stack(total)));
      if (weight === 'period') this.#weights.add(row, totals.period(total), totals.periodRemainder(total));
      else this.#weights.add(row, totals.samples(total));
    }
  }

  *[Symbol.iterator](): Generator<string> {
    const rows = this.#rows;
    const { ranks, byRank } = this.#rankStrings();
    const order = this.#tree.inOrder(ranks);
    const places = placesIn(order);
    // One number per row that sorts like (comm, stack). The product of both counts stays below 2^53, so it is exact.
    const stride = order.length + 1;
    const keys = new Float64Array(rows.size);
    for (let row = 0; row < rows.size; row++) {
      const node = rows.words[row * 2 + 1] | 0;
      keys[row] = ranks[rows.words[row * 2]] * stride + (node < 0 ? 0 : places[node] + 1);
    }
    for (const key of keys.sort()) {
      const comm = byRank[Math.floor(key / stride)];
      const nodePlace = key % stride;
      const node = nodePlace === 0 ? -1 : order[nodePlace - 1];
      const row = rows.find(comm, node);
      yield `${this.#stackText(comm, node)} ${wholeNumber(this.#weights.value(row), this.#weights.remainder(row))}\n`;
    }
  }

  #stackText(comm: number, node: number): string {
    let text = '';
    for (let at = node; at >= 0; at = this.#tree.parent(at)) text = `;${this.#strings.get(this.#tree.text(at))}${text}`;
    return this.#strings.get(comm) + text;
  }

  /** The rank of each string in sorted order, and the string of each rank. */
  #rankStrings(): { ranks: Uint32Array; byRank: Uint32Array } {
    const strings = this.#strings;
    const byRank = Uint32Array.from({ length: strings.size }, (_, index) => index).sort((a, b) => strings.compare(a, b));
    return { ranks: placesIn(byRank), byRank };
  }
}
