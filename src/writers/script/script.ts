import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { TextWriter } from '../../base/streams/text-writer.ts';
import { byteLength } from '../../base/text/text.ts';
import { baseName, hexAddress, NAMELESS } from '../../profile/names.ts';
import type { Profile, ProfileEvent } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import { everySample } from '../every-sample.ts';
import type { SecondsTexts } from '../seconds-texts.ts';
import { TextCache } from '../text-cache.ts';
import { timesOfDay } from '../time-of-day.ts';
import { wholeNumber } from '../whole-number.ts';
import { BranchColumns } from './branch-columns.ts';
import { DetailColumns } from './detail-columns.ts';
import type { ScriptField, ScriptFieldRequest } from './field-requests.ts';
import { scriptFieldsOf } from './fields.ts';
import type { ScriptTimes } from './script-times.ts';
import { TimeColumn } from './time-column.ts';

export { findMissingFields } from './missing-fields.ts';

export interface ScriptOptions {
  /** Requests for fields, of which each changes what those before it have left. Default: none, perf's choice for each event. */
  readonly fields?: readonly ScriptFieldRequest[];
  /** Print seconds with nine decimals instead of six. */
  readonly ns?: boolean;
  /** Leave out callchains of tracepoints, or parts of them, where perf 6.1 does, and name levels of memory as it does. Default: no. */
  readonly likePerf?: boolean;
  /** Print the time of day (`tod`) instead of `time`, unless {@link times} is given. */
  readonly wallClock?: boolean;
  /** What `time` counts from. Default: what the recording's clock counts from. */
  readonly times?: ScriptTimes;
  /**
   * What to print instead of the name of a function that has this linkage name; undefined to keep the name. Default:
   * keep all names.
   */
  readonly nameOf?: (linkageName: string) => string | undefined;
  /**
   * Changes names and payloads from the recording before they are printed, as for a terminal. Default: they are printed
   * as they are, line breaks included, as perf script prints them.
   */
  readonly shown?: (text: string) => string;
}

/**
 * Writes samples as the text of `perf script`, for the tools that read it. Source of the format: observed, perf 6.1.
 *
 * A field that the samples of an event do not carry is left out; `findMissingFields` returns the fields that no
 * sample carries. Fields that show details of samples need a profile that was read with these details.
 *
 * @throws PerfconvError `usage` when the profile was read without its samples
 */
export async function writeScript(profile: Profile, sink: ByteSink, options: ScriptOptions = {}): Promise<void> {
  const samples = everySample(profile, 'perf-script text');
  const out = new TextWriter(sink);
  const printer = new SamplePrinter(profile, samples, options);
  for (let row = 0; row < samples.size; row++) {
    printer.print(row, out);
    if (out.isFull) await out.flush();
  }
  await out.flush();
}

const COMM_WIDTH = 16;
/** What the text of a frame depends on. */
const FRAME_FIELDS: readonly ScriptField[] = ['ip', 'sym', 'symoff', 'dso', 'srcline'];

class SamplePrinter {
  readonly #profile: Profile;
  readonly #samples: SampleTable;
  readonly #decimals: 6 | 9;
  readonly #fieldsOf: readonly ReadonlySet<ScriptField>[];
  /** By task; so are the padded ones. */
  readonly #comms: readonly string[];
  readonly #paddedComms: readonly string[];
  readonly #paddedEvents: readonly string[];
  readonly #details: DetailColumns | undefined;
  readonly #branches: BranchColumns | undefined;
  readonly #nameOf: (linkageName: string) => string | undefined;
  readonly #shown: (text: string) => string;
  /** For each event with callchains, the lines of each location. Events that show the same fields share them. */
  readonly #framesOf: readonly (TextCache<string> | undefined)[];
  readonly #times: TimeColumn;
  /** undefined if the recording does not have the wall-clock time. */
  readonly #timesOfDay: SecondsTexts | undefined;

  constructor(profile: Profile, samples: SampleTable, options: ScriptOptions) {
    const { fields = [], ns = false, likePerf = false, wallClock = false, times, nameOf = () => undefined, shown = (text) => text } = options;
    this.#nameOf = nameOf;
    this.#shown = shown;
    this.#profile = profile;
    this.#samples = samples;
    this.#decimals = ns ? 9 : 6;
    const isStream = profile.meta.isStream === true;
    this.#fieldsOf = profile.events.map((event) => {
      const chosen = scriptFieldsOf(event, fields, { hasCallchain: event.hasCallchain, likePerf, isStream });
      return wallClock && times === undefined ? withTimeOfDay(chosen) : chosen;
    });
    const textsOf = new Map<string, TextCache<string>>();
    this.#framesOf = this.#fieldsOf.map((fieldsOfEvent, event) => {
      if (!profile.events[event].hasCallchain) return undefined;
      const key = FRAME_FIELDS.filter((field) => fieldsOfEvent.has(field)).join();
      const texts = textsOf.get(key) ?? new TextCache(profile.locations.size, (location) => this.#frameText(location, fieldsOfEvent));
      textsOf.set(key, texts);
      return texts;
    });
    this.#details = samples.details && new DetailColumns(samples.details, likePerf, (location, shown) => this.#codePlace(location, shown));
    const branchTexts = { symbol: (location: number) => this.#branchSymbol(location), dso: (location: number) => this.#dsoName(location) };
    this.#branches = samples.branches && new BranchColumns(samples.branches, profile, branchTexts);
    const { startTime, wallClockOffsetNs } = profile.meta;
    this.#times = new TimeColumn(startTime, this.#decimals, times);
    this.#timesOfDay = wallClockOffsetNs === undefined ? undefined : timesOfDay(startTime + wallClockOffsetNs);
    this.#comms = profile.tasks.map((task) => shown(task.comm));
    this.#paddedComms = this.#comms.map((comm) => padBytes(comm, COMM_WIDTH));
    const eventNames = profile.events.map((event) => shown(event.name));
    const eventWidth = eventNames.reduce((widest, name) => Math.max(widest, byteLength(name)), 0);
    this.#paddedEvents = eventNames.map((name) => padBytes(name, eventWidth));
  }

  /** Prints a sample: its line, and the lines of its callchain; nothing if its event has no fields. */
  print(row: number, out: TextWriter): void {
    const samples = this.#samples;
    const event = this.#profile.events[samples.event[row]];
    const fields = this.#fieldsOf[samples.event[row]];
    if (fields.size === 0) return;
    const details = this.#details;
    const detail = details === undefined ? -1 : samples.detail[row];
    let line = this.#taskColumns(row, fields, event.hasCallchain);
    if (details !== undefined && detail >= 0 && fields.has('misc')) line += details.misc(detail);
    line += this.#timeColumns(samples.timeNs[row], fields);
    if (fields.has('period')) line += `${wholeNumber(samples.period[row], samples.periodRemainder(row)).padStart(10)} `;
    if (fields.has('event')) line += `${this.#paddedEvents[samples.event[row]]}: `;
    if (details !== undefined && detail >= 0) {
      if (fields.has('trace')) line += this.#payloadText(event, detail);
      line += details.beforeIp(detail, fields, event.hasWeightStruct ?? false);
    }
    out.put(line);
    if (fields.has('ip')) {
      const texts = this.#framesOf[samples.event[row]];
      if (texts !== undefined) this.#printCallchain(samples.stack[row], texts, out);
      else this.#printSingle(row, fields, out);
    }
    if (details !== undefined && detail >= 0) out.put(details.registers(detail, fields, event.registerNames));
    if (this.#branches !== undefined) out.put(this.#branches.text(row, fields));
    const rest = details === undefined || detail < 0 ? '' : details.afterIp(detail, fields, event.isBpfOutput ?? false);
    out.put(`${rest}\n`);
  }

  /** Whose sample it is: comm, pid, tid and CPU. Before a callchain the comm is not padded. */
  #taskColumns(row: number, fields: ReadonlySet<ScriptField>, hasCallchain: boolean): string {
    const cpu = this.#samples.cpu[row];
    const task = this.#samples.task[row];
    const { pid, tid } = this.#profile.threads[this.#profile.tasks[task].thread];
    let text = '';
    if (fields.has('comm')) text += `${(hasCallchain && fields.has('ip') ? this.#comms : this.#paddedComms)[task]} `;
    if (fields.has('pid') && fields.has('tid')) text += `${String(pid).padStart(5)}/${String(tid).padEnd(5)} `;
    else if (fields.has('pid')) text += `${String(pid).padStart(5)} `;
    else if (fields.has('tid')) text += `${String(tid).padStart(5)} `;
    if (fields.has('cpu') && cpu >= 0) text += `[${String(cpu).padStart(3, '0')}] `;
    return text;
  }

  /** The time of day and the time; nothing for a sample without a time. */
  #timeColumns(timeNs: number, fields: ReadonlySet<ScriptField>): string {
    if (Number.isNaN(timeNs)) return '';
    let text = '';
    if (fields.has('tod') && this.#timesOfDay !== undefined) text += `${this.#timesOfDay.text(timeNs, this.#decimals)} `;
    if (fields.has('time')) text += `${this.#times.next(timeNs)}: `;
    return text;
  }

  #payloadText(event: ProfileEvent, detail: number): string {
    const details = this.#samples.details;
    return details === undefined || event.showPayload === undefined ? '' : this.#shown(event.showPayload(details.raw(detail)));
  }

  #printCallchain(stack: number, texts: TextCache<string>, out: TextWriter): void {
    out.put('\n');
    const { stacks } = this.#profile;
    for (let at = stack; at >= 0; at = stacks.parent(at)) {
      const location = stacks.location(at);
      out.put(texts.get(location));
    }
  }

  /** A location as lines of a callchain: one for each inlined function, innermost first, then the function itself. */
  #frameText(location: number, fields: ReadonlySet<ScriptField>): string {
    const { locations } = this.#profile;
    const ip = `\t${hexAddress(locations.addressLo(location), locations.addressHi(location)).padStart(16)}`;
    let text = '';
    for (let nth = 0; nth < locations.lineCount(location) - 1; nth++) {
      text += `${ip}${this.#symbol(location, nth, fields)}${this.#sourceLine(location, nth, fields)} (inlined)\n`;
    }
    return `${text}${ip}${this.#place(location, fields)}\n`;
  }

  /**
   * Prints the address of a sample without a callchain. perf prints the run-time address here, not the one in the file.
   */
  #printSingle(row: number, fields: ReadonlySet<ScriptField>, out: TextWriter): void {
    const samples = this.#samples;
    const stack = samples.stack[row];
    const ip = hexAddress(samples.ipLo[row], samples.ipHi[row]).padStart(16);
    out.put(` ${ip}${stack < 0 ? '' : this.#place(this.#profile.stacks.location(stack), fields)}`);
  }

  /** ` symbol+0xoffset (dso)` and the source line, as far as the fields ask for them. */
  #place(location: number, fields: ReadonlySet<ScriptField>): string {
    return this.#codePlace(location, fields) + this.#sourceLine(location, this.#profile.locations.lineCount(location) - 1, fields);
  }

  /** ` symbol+0xoffset (dso)`, as far as the fields ask for them. */
  #codePlace(location: number, fields: ReadonlySet<ScriptField>): string {
    const outermost = this.#profile.locations.lineCount(location) - 1;
    const symbol = outermost < 0 ? (fields.has('sym') ? ' [unknown]' : '') : this.#symbol(location, outermost, fields);
    return fields.has('dso') ? `${symbol} (${this.#dsoName(location)})` : symbol;
  }

  #dsoName(location: number): string {
    const { locations, mappings } = this.#profile;
    const mapping = locations.mapping(location);
    return mapping < 0 ? NAMELESS : this.#shown(mappings[mapping].name);
  }

  /** `symbol+0xoffset`; the function is the one that owns the machine code. */
  #branchSymbol(location: number): string {
    const { locations } = this.#profile;
    const outermost = locations.lineCount(location) - 1;
    if (outermost < 0) return NAMELESS;
    const offset = locations.isStandIn(location) ? '' : `+0x${locations.symbolOffset(location).toString(16)}`;
    return `${this.#functionName(location, outermost)}${offset}`;
  }

  /** ` symbol+0xoffset`. For an inlined function, it is the offset in the function that it was inlined into. */
  #symbol(location: number, nth: number, fields: ReadonlySet<ScriptField>): string {
    if (!fields.has('sym')) return '';
    const { locations } = this.#profile;
    const offset = fields.has('symoff') && !locations.isStandIn(location) ? `+0x${locations.symbolOffset(location).toString(16)}` : '';
    return ` ${this.#functionName(location, nth)}${offset}`;
  }

  /**
   * The source line on a line of its own, as perf prints it: `file.c:12`, without directories; `libfoo.so[4f2c1]` if no source line is known; nothing outside
   * all mappings.
   */
  #sourceLine(location: number, nth: number, fields: ReadonlySet<ScriptField>): string {
    if (!fields.has('srcline')) return '';
    const { functions, locations, mappings, strings } = this.#profile;
    const source = nth < 0 ? 0 : locations.lineFile(location, nth) || functions.file(locations.lineFunction(location, nth));
    const file = this.#shown(baseName(strings.get(source)));
    if (file !== '' && locations.lineNumber(location, nth) > 0) return `\n  ${file}:${locations.lineNumber(location, nth)}`;
    const mapping = locations.mapping(location);
    if (mapping < 0) return '';
    return `\n  ${this.#shown(baseName(mappings[mapping].name))}[${hexAddress(locations.addressLo(location), locations.addressHi(location))}]`;
  }

  #functionName(location: number, nth: number): string {
    const { locations, functions, strings } = this.#profile;
    const func = locations.lineFunction(location, nth);
    const linkageName = functions.systemName(func);
    const name = linkageName === 0 ? undefined : this.#nameOf(strings.get(linkageName));
    return this.#shown((name ?? strings.get(functions.name(func))) || NAMELESS);
  }
}

/** Right-aligns a text; the width counts bytes, as in C's printf. */
function padBytes(text: string, width: number): string {
  return text.padStart(width - byteLength(text) + text.length);
}

function withTimeOfDay(fields: ReadonlySet<ScriptField>): ReadonlySet<ScriptField> {
  return new Set([...fields].map((field) => (field === 'time' ? 'tod' : field)));
}
