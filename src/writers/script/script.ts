import type { ByteSink } from '../../base/byte-sink.ts';
import { PerfconvError } from '../../base/errors.ts';
import { byteLength } from '../../base/text.ts';
import { TextWriter } from '../../base/text-writer.ts';
import { baseName, hexAddress, NAMELESS } from '../../profile/names.ts';
import type { Profile, ProfileEvent } from '../../profile/profile.ts';
import type { DetailName } from '../../profile/sample-details.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import { TextCache } from '../text-cache.ts';
import { TimeOfDay } from '../time-of-day.ts';
import { wholeNumber } from '../whole-number.ts';
import { DetailColumns } from './detail-columns.ts';
import { DETAIL_OF_FIELD, type ScriptField, type ScriptFieldChoice, scriptFieldsOf } from './fields.ts';

export { SCRIPT_FIELDS, type ScriptField, type ScriptFieldChoice } from './fields.ts';

export interface ScriptOptions {
  /** What to print, or to add to and leave out of perf's own choice for each event; that choice by default. */
  readonly fields?: readonly ScriptFieldChoice[];
  /** Print nine decimals of seconds, not six. */
  readonly ns?: boolean;
  /** Print the time of day (`tod`) in place of `time`. */
  readonly wallClock?: boolean;
  /** What to print for a linkage name in place of the function's name; undefined for the latter, which is the default. */
  readonly nameOf?: (linkageName: string) => string | undefined;
  /** How to show what the recording holds as text: names and payloads. As it is by default, line breaks included, as perf script prints it. */
  readonly shown?: (text: string) => string;
}

/**
 * Writes samples as the text of `perf script`, so that every tool that reads that text reads this one.
 * Source of the format: observed, perf 6.1, columns as its output has them.
 *
 * A field that an event's samples do not carry is left out: {@link missingScriptFields} tells which. What shows details of
 * samples needs a profile that was read with them.
 * @throws PerfconvError `usage` when the profile was read without its samples
 */
export async function writeScript(profile: Profile, sink: ByteSink, options: ScriptOptions = {}): Promise<void> {
  const { samples } = profile;
  if (samples === undefined) throw new PerfconvError('usage', 'perf-script text needs every sample: read the profile with keepSamples');
  const out = new TextWriter(sink);
  const printer = new SamplePrinter(profile, samples, options);
  for (let row = 0; row < samples.size; row++) {
    printer.print(row, out);
    if (out.isFull) await out.flush();
  }
  await out.flush();
}

/** Fields asked for that no sample of the profile carries. */
export function missingScriptFields(profile: Profile, choices: readonly ScriptFieldChoice[]): ScriptField[] {
  const { samples } = profile;
  const fields = choices.filter((choice) => !choice.startsWith('-')).map((choice) => choice.replace('+', '') as ScriptField);
  if (samples === undefined || samples.size === 0) return [];
  const hasTime = samples.timeNs.subarray(0, samples.size).some((time) => !Number.isNaN(time));
  const hasCpu = samples.cpu.subarray(0, samples.size).some((cpu) => cpu >= 0);
  const hasTimeOfDay = hasTime && profile.meta.wallClockOffsetNs !== undefined;
  return fields.filter((field) => {
    if (field === 'time') return !hasTime;
    if (field === 'tod') return !hasTimeOfDay;
    if (field === 'cpu') return !hasCpu;
    const detail = DETAIL_OF_FIELD[field];
    return detail !== undefined && detail !== 'misc' && !profile.events.some((event) => event.samples > 0 && carries(event, field, detail));
  });
}

/** Whether an event's samples have something to show of a field. */
function carries(event: ProfileEvent, field: ScriptField, detail: DetailName): boolean {
  if (field === 'trace' && !event.isTracepoint) return false;
  if (field === 'bpf-output' && !event.isBpfOutput) return false;
  if (field === 'ins_lat' && !event.hasWeightStruct) return false;
  return event.carries?.has(detail) ?? false;
}

const COMM_WIDTH = 16;

class SamplePrinter {
  readonly #profile: Profile;
  readonly #samples: SampleTable;
  readonly #decimals: 6 | 9;
  readonly #fieldsOf: readonly ReadonlySet<ScriptField>[];
  /** By task. */
  readonly #comms: readonly string[];
  readonly #paddedComms: readonly string[];
  readonly #paddedEvents: readonly string[];
  readonly #details: DetailColumns | undefined;
  readonly #nameOf: (linkageName: string) => string | undefined;
  readonly #shown: (text: string) => string;
  readonly #frames: TextCache<string>;
  /** The recording's time at time 0 of the samples, as seconds and nanoseconds. */
  readonly #startSeconds: number;
  readonly #startNanoseconds: number;

  /** undefined where the recording does not tell. */
  readonly #timeOfDay: TimeOfDay | undefined;

  constructor(profile: Profile, samples: SampleTable, options: ScriptOptions) {
    const { fields, ns = false, wallClock = false, nameOf = () => undefined, shown = (text) => text } = options;
    this.#nameOf = nameOf;
    this.#shown = shown;
    this.#profile = profile;
    this.#samples = samples;
    this.#decimals = ns ? 9 : 6;
    this.#fieldsOf = profile.events.map((event) => {
      const chosen = scriptFieldsOf(event, event.hasCallchain, fields);
      return wallClock ? withTimeOfDay(chosen) : chosen;
    });
    // What is shown of a frame is the same for all events that have callchains, so a location always prints alike.
    const frameFields = this.#fieldsOf[profile.events.findIndex(({ hasCallchain }) => hasCallchain)];
    this.#frames = new TextCache(profile.locations.size, (location) => this.#frameText(location, frameFields));
    this.#details = samples.details && new DetailColumns(samples.details);
    const { startTime, wallClockOffsetNs } = profile.meta;
    this.#timeOfDay = wallClockOffsetNs === undefined ? undefined : new TimeOfDay(startTime + wallClockOffsetNs);
    this.#comms = profile.tasks.map((task) => shown(task.comm));
    this.#paddedComms = this.#comms.map((comm) => padBytes(comm, COMM_WIDTH));
    const eventNames = profile.events.map((event) => shown(event.name));
    const eventWidth = eventNames.reduce((widest, name) => Math.max(widest, byteLength(name)), 0);
    this.#paddedEvents = eventNames.map((name) => padBytes(name, eventWidth));
    this.#startSeconds = Number(profile.meta.startTime / 1_000_000_000n);
    this.#startNanoseconds = Number(profile.meta.startTime % 1_000_000_000n);
  }

  print(row: number, out: TextWriter): void {
    const samples = this.#samples;
    const eventIndex = samples.event[row];
    const event = this.#profile.events[eventIndex];
    const fields = this.#fieldsOf[eventIndex];
    if (fields.size === 0) return;
    const task = this.#profile.tasks[samples.task[row]];
    const thread = this.#profile.threads[task.thread];
    let line = '';
    if (fields.has('comm')) line += event.hasCallchain && fields.has('ip') ? `${this.#comms[samples.task[row]]} ` : `${this.#paddedComms[samples.task[row]]} `;
    if (fields.has('pid') && fields.has('tid')) line += `${String(thread.pid).padStart(5)}/${String(thread.tid).padEnd(5)} `;
    else if (fields.has('pid')) line += `${String(thread.pid).padStart(5)} `;
    else if (fields.has('tid')) line += `${String(thread.tid).padStart(5)} `;
    if (fields.has('cpu') && samples.cpu[row] >= 0) line += `[${String(samples.cpu[row]).padStart(3, '0')}] `;
    const detail = this.#details === undefined ? -1 : samples.detail[row];
    if (fields.has('misc') && detail >= 0) line += this.#details?.misc(detail) ?? '';
    if (fields.has('tod') && this.#timeOfDay !== undefined && !Number.isNaN(samples.timeNs[row])) {
      line += `${this.#timeOfDay.text(samples.timeNs[row], this.#decimals)} `;
    }
    if (fields.has('time') && !Number.isNaN(samples.timeNs[row])) line += `${this.#time(samples.timeNs[row])}: `;
    if (fields.has('period')) line += `${wholeNumber(samples.period[row], samples.periodRemainder(row)).padStart(10)} `;
    if (fields.has('event')) line += `${this.#paddedEvents[eventIndex]}: `;
    if (fields.has('trace') && detail >= 0) line += this.#payloadText(event, detail);
    if (this.#details !== undefined && detail >= 0) line += this.#details.beforeIp(detail, fields, event.hasWeightStruct ?? false);
    out.put(line);
    if (fields.has('ip')) {
      if (event.hasCallchain) this.#printCallchain(samples.stack[row], out);
      else this.#printSingle(row, fields, out);
    }
    const rest = this.#details === undefined || detail < 0 ? '' : this.#details.behindIp(detail, fields, event.isBpfOutput ?? false);
    out.put(`${rest}\n`);
  }

  #payloadText(event: ProfileEvent, detail: number): string {
    const details = this.#samples.details;
    return details === undefined || event.showPayload === undefined ? '' : this.#shown(event.showPayload(details.raw(detail)));
  }

  #printCallchain(stack: number, out: TextWriter): void {
    out.put('\n');
    const { stacks } = this.#profile;
    for (let at = stack; at >= 0; at = stacks.parent(at)) {
      const location = stacks.location(at);
      out.put(this.#frames.get(location));
    }
  }

  /** A location as lines of a callchain: one per inlined function, innermost first, then the function itself. */
  #frameText(location: number, fields: ReadonlySet<ScriptField>): string {
    const { locations } = this.#profile;
    const ip = `\t${hexAddress(locations.addressLo(location), locations.addressHi(location)).padStart(16)}`;
    let text = '';
    for (let nth = 0; nth < locations.lineCount(location) - 1; nth++) {
      text += `${ip}${this.#symbol(location, nth, fields)}${this.#sourceLine(location, nth, fields)} (inlined)\n`;
    }
    return `${text}${ip}${this.#place(location, fields)}\n`;
  }

  /** Without a callchain perf prints the run-time address, not the one in the file. */
  #printSingle(row: number, fields: ReadonlySet<ScriptField>, out: TextWriter): void {
    const samples = this.#samples;
    const stack = samples.stack[row];
    const ip = hexAddress(samples.ipLo[row], samples.ipHi[row]).padStart(16);
    out.put(` ${ip}${stack < 0 ? '' : this.#place(this.#profile.stacks.location(stack), fields)}`);
  }

  /** ` symbol+0xoffset (dso)` and the source line behind it, as far as they are asked for. */
  #place(location: number, fields: ReadonlySet<ScriptField>): string {
    const { locations, mappings } = this.#profile;
    const outermost = locations.lineCount(location) - 1;
    let text = outermost < 0 ? (fields.has('sym') ? ' [unknown]' : '') : this.#symbol(location, outermost, fields);
    if (fields.has('dso')) {
      const mapping = locations.mapping(location);
      text += ` (${mapping < 0 ? '[unknown]' : this.#shown(mappings[mapping].name)})`;
    }
    return text + this.#sourceLine(location, outermost, fields);
  }

  /** ` symbol+0xoffset`; what is inlined has the offset of the function that it became part of. */
  #symbol(location: number, nth: number, fields: ReadonlySet<ScriptField>): string {
    if (!fields.has('sym')) return '';
    const offset = fields.has('symoff') ? `+0x${this.#profile.locations.symbolOffset(location).toString(16)}` : '';
    return ` ${this.#functionName(location, nth)}${offset}`;
  }

  /** On a line of its own, as perf prints it: `file.c:12`, the file without its directories; `libfoo.so[4f2c1]` where no line is known. */
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

  /** `%5lu.%06lu`, cut off, not rounded, as perf does. */
  #time(timeNs: number): string {
    const seconds = Math.floor(timeNs / 1e9);
    let nanoseconds = this.#startNanoseconds + (timeNs - seconds * 1e9);
    let whole = this.#startSeconds + seconds;
    if (nanoseconds >= 1e9) {
      nanoseconds -= 1e9;
      whole++;
    }
    const decimals = String(nanoseconds).padStart(9, '0').slice(0, this.#decimals);
    return `${String(whole).padStart(5)}.${decimals}`;
  }
}

/** Right-aligned by bytes, as C's printf does it. */
function padBytes(text: string, width: number): string {
  return text.padStart(width - byteLength(text) + text.length);
}

function withTimeOfDay(fields: ReadonlySet<ScriptField>): ReadonlySet<ScriptField> {
  return new Set([...fields].map((field) => (field === 'time' ? 'tod' : field)));
}
