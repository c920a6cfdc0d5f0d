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
  const { paintPercent = (text: string) => text, width } = options;
  const samplesWidth = Math.max('samples'.length, String(profile.events[tree.event].samples).length);
  const nameWidth = width === undefined ? undefined : width - (7 + 7 + samplesWidth + 1);
  const lines = new TreeLines(
    tree,
    report,
    nameWidth === undefined ? MAX_LEVELS : Math.min(MAX_LEVELS, Math.max(1, Math.floor((nameWidth - MIN_NAME) / INDENT))),
  );
  const share = (weight: number): string => {
    const percent = percentOf(weight, tree.sum);
    return paintPercent(percentText(percent).padStart(6), percent);
  };
  const put = (weight: number, self: string, samples: number, prefix: string, text: string): void => {
    const shown = nameWidth === undefined ? text : cutMiddle(text, Math.max(1, nameWidth - displayWidth(prefix)));
    out.put(`${share(weight)} ${self} ${String(samples).padStart(samplesWidth)} ${prefix}${shown}\n`);
  };
  /** Ends the rows below a depth. */
  const close = (depth: number): void => {
    for (const { omitted, prefix } of lines.close(depth)) {
      const count = `… ${omitted.calls} more`;
      const whole = omitted.areSmall ? `${count} below ${report.percentLimit} %` : count;
      // Cut in the middle, it would lose the count.
      const fits = nameWidth === undefined || displayWidth(prefix + whole) <= nameWidth;
      put(report.weight(omitted), BLANK_SHARE, omitted.samples, prefix, fits ? whole : count);
    }
  };

  out.put(`# ${lineText(headline(profile.events[tree.event]))}\n`);
  out.put(`   per   self ${'samples'.padStart(samplesWidth)} function\n`);
  for (const [index, { depth, label, parent, self, total }] of tree.rows.entries()) {
    close(depth);
    const prefix = lines.open(index);
    const callerDso = parent < 0 ? undefined : tree.rows[parent].label.dso;
    put(report.weight(total), self.samples === 0 ? BLANK_SHARE : share(report.weight(self)), total.samples, prefix, rowText(label, callerDso));
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
