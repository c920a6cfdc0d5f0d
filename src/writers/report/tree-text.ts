import type { TextWriter } from '../../base/streams/text-writer.ts';
import { cutMiddle, displayWidth } from '../../base/text/display-width.ts';
import { printable } from '../../base/text/printable.ts';
import { baseName, NAMELESS } from '../../profile/names.ts';
import type { Profile } from '../../profile/profile.ts';
import { percentOf, percentText } from '../percent.ts';
import { lineText } from '../tables/text-table.ts';
import { headline } from './headline.ts';
import type { OmittedCalls, TreeLabel } from './shown-calls.ts';
import type { EventTree, ReportTree } from './tree.ts';

export interface TreeTextOptions {
  /** Columns of the terminal, to which names are cut. Default: they are not cut. */
  readonly width?: number;
  /** Colors a percentage for a terminal: gets the padded text and its value. Default: none. */
  readonly paintPercent?: (text: string, percent: number) => string;
}

const BLANK_SHARE = ' '.repeat(6);
/** Columns of a level of indentation. */
const INDENT = 2;
/** Levels that are drawn at most: deeper ones have their number. */
const MAX_LEVELS = 60;
/** Columns that indentation leaves to names. */
const MIN_NAME = 28;

/**
 * Writes the calls of an event as an indented tree: a call is below its caller. Its share includes what it called; `self` does not.
 *
 * What is the only line below its caller stays at the caller's indentation, so that long chains of calls are straight. Calls that are left out have a line where
 * they add up to a share that would be shown; one line at the end counts the others. A binary follows a function where it is not the caller's.
 */
export async function writeTreeText(profile: Profile, report: ReportTree, tree: EventTree, out: TextWriter, options: TreeTextOptions = {}): Promise<void> {
  const event = profile.events[tree.event];
  const columns = new TreeColumns(event.samples, tree.sum, options);
  const lines = new TreeLines(tree, report, columns.maxLevels);
  /** Ends the rows below a depth. */
  const close = (depth: number): void => {
    for (const { omitted, prefix } of lines.close(depth)) {
      const count = `… ${omitted.calls} more`;
      const whole = omitted.areSmall ? `${count} below ${report.percentLimit} %` : count;
      // Cut in the middle, it would lose the count.
      const text = columns.hasRoomFor(prefix + whole) ? whole : count;
      out.put(columns.row({ weight: report.weight(omitted), ownWeight: undefined, samples: omitted.samples }, prefix, text));
    }
  };

  out.put(`# ${lineText(headline(event))}\n${columns.header()}`);
  for (const [index, { depth, label, parent, self, total }] of tree.rows.entries()) {
    close(depth);
    const prefix = lines.open(index);
    const callerDso = parent < 0 ? undefined : tree.rows[parent].label.dso;
    const ownWeight = self.samples === 0 ? undefined : report.weight(self);
    out.put(columns.row({ weight: report.weight(total), ownWeight, samples: total.samples }, prefix, rowText(label, callerDso)));
    if (out.isFull) await out.flush();
  }
  close(-1);
  const { calls, weight } = lines.unseen;
  if (calls > 0) {
    out.put(
      `# not shown: ${calls} more ${calls === 1 ? 'call' : 'calls'}, below ${report.percentLimit} % for each caller, ${percentText(percentOf(weight, tree.sum))} % in all\n`,
    );
  }
}

/** The numbers of a row. */
interface RowNumbers {
  readonly weight: number;
  /** What it has without what it called; undefined if it has no sample of its own. */
  readonly ownWeight: number | undefined;
  readonly samples: number;
}

/** The columns of an event's rows, as wide as its numbers and the terminal. */
class TreeColumns {
  /** How many levels are indented: deeper ones would leave too little room to names. */
  readonly maxLevels: number;
  readonly #sum: number;
  readonly #samplesWidth: number;
  /** Columns of names with their indentation; undefined if they are not cut. */
  readonly #nameWidth: number | undefined;
  readonly #paintPercent: (text: string, percent: number) => string;

  /** @param samples how many the event has @param sum the weight of them all */
  constructor(samples: number, sum: number, { paintPercent = (text) => text, width }: TreeTextOptions) {
    this.#sum = sum;
    this.#samplesWidth = Math.max('samples'.length, String(samples).length);
    this.#nameWidth = width === undefined ? undefined : width - (7 + 7 + this.#samplesWidth + 1);
    this.maxLevels = this.#nameWidth === undefined ? MAX_LEVELS : Math.min(MAX_LEVELS, Math.max(1, Math.floor((this.#nameWidth - MIN_NAME) / INDENT)));
    this.#paintPercent = paintPercent;
  }

  header(): string {
    return `   per   self ${'samples'.padStart(this.#samplesWidth)} function\n`;
  }

  row({ weight, ownWeight, samples }: RowNumbers, prefix: string, text: string): string {
    const shown = this.#nameWidth === undefined ? text : cutMiddle(text, Math.max(1, this.#nameWidth - displayWidth(prefix)));
    const self = ownWeight === undefined ? BLANK_SHARE : this.#share(ownWeight);
    return `${this.#share(weight)} ${self} ${String(samples).padStart(this.#samplesWidth)} ${prefix}${shown}\n`;
  }

  /** Whether a text with its indentation is not cut. */
  hasRoomFor(text: string): boolean {
    return this.#nameWidth === undefined || displayWidth(text) <= this.#nameWidth;
  }

  #share(weight: number): string {
    const percent = percentOf(weight, this.#sum);
    return this.#paintPercent(percentText(percent).padStart(6), percent);
  }
}

/** How lines are indented, and which ones there are for calls that are left out. */
class TreeLines {
  /** The calls that are left out and have no line. */
  readonly unseen = { calls: 0, weight: 0 };
  readonly #tree: EventTree;
  readonly #report: ReportTree;
  readonly #maxLevels: number;
  /** By caller's row plus 1: how many lines are below it that have not been written yet. */
  readonly #left: Uint32Array;
  /** By row: whether it is the only line below its caller. */
  readonly #isOnly: Uint8Array;
  /** The rows on the path to the current one, the roots' common caller −1 first: the level of each, and what is before the lines below it. */
  readonly #open: { readonly row: number; readonly level: number; readonly lead: string }[] = [{ row: -1, level: -1, lead: '' }];

  constructor(tree: EventTree, report: ReportTree, maxLevels: number) {
    this.#tree = tree;
    this.#report = report;
    this.#maxLevels = maxLevels;
    this.#left = new Uint32Array(tree.rows.length + 1);
    for (const { parent } of tree.rows) this.#left[parent + 1]++;
    for (let row = -1; row < tree.rows.length; row++) if (this.#lineOf(row) !== undefined) this.#left[row + 1]++;
    this.#isOnly = Uint8Array.from(tree.rows, ({ parent }) => (parent >= 0 && this.#left[parent + 1] === 1 ? 1 : 0));
  }

  /** Starts a row below the last open one. @returns what comes before its text */
  open(row: number): string {
    const caller = this.#open[this.#open.length - 1];
    this.#left[caller.row + 1]--;
    if (this.#isOnly[row] === 1) {
      this.#open.push({ ...caller, row });
      return caller.lead;
    }
    const level = caller.level + 1;
    const isLast = this.#left[caller.row + 1] === 0;
    const lead = level === 0 ? '' : level > this.#maxLevels ? ' '.repeat(`…${level} `.length) : `${caller.lead}${isLast ? '  ' : '│ '}`;
    this.#open.push({ row, level, lead });
    return this.#prefix(caller, isLast);
  }

  /** Ends the open rows from a depth on, −1 for all. @returns the lines for calls that are left out below them */
  close(depth: number): { readonly omitted: OmittedCalls; readonly prefix: string }[] {
    const lines: { readonly omitted: OmittedCalls; readonly prefix: string }[] = [];
    for (let open = this.#open.at(-1); open !== undefined && this.#open.length > depth + 1; open = this.#open.at(-1)) {
      const omitted = this.#omittedOf(open.row);
      const line = this.#lineOf(open.row);
      if (line !== undefined) lines.push({ omitted: line, prefix: this.#prefix(open, true) });
      else if (omitted !== undefined) {
        this.unseen.calls += omitted.calls;
        this.unseen.weight += this.#report.weight(omitted);
      }
      this.#open.pop();
    }
    return lines;
  }

  #omittedOf(row: number): OmittedCalls | undefined {
    return row < 0 ? this.#tree.omitted : this.#tree.rows[row].omitted;
  }

  /** The calls below a row that are left out, if they have a line. */
  #lineOf(row: number): OmittedCalls | undefined {
    const omitted = this.#omittedOf(row);
    const { percentLimit } = this.#report;
    return omitted !== undefined && percentOf(this.#report.weight(omitted), this.#tree.sum) >= percentLimit ? omitted : undefined;
  }

  /** There is no room for the lines of deep levels, which have their number instead. */
  #prefix({ level, lead }: { readonly level: number; readonly lead: string }, isLast: boolean): string {
    if (level < 0) return '';
    return level + 1 > this.#maxLevels ? `…${level + 1} ` : `${lead}${isLast ? '└ ' : '├ '}`;
  }
}

function rowText({ level, name, dso, isInlined }: TreeLabel, callerDso: string | undefined): string {
  if (level !== undefined) return printable(name);
  const binary = baseName(dso);
  // What stands for unknown code names its binary.
  const isNamed = dso === callerDso || dso === '' || dso === NAMELESS || name === binary || name.startsWith(`[${binary}]`) || name.startsWith(`${binary}+0x`);
  const place = isNamed ? '' : binary.startsWith('[') ? ` ${binary}` : ` (${binary})`;
  return printable(`${name}${isInlined ? ' (inlined)' : ''}${place}`);
}
