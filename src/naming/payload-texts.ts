import { addressOfBig } from '../base/bytes/addresses.ts';
import { ByteView } from '../base/bytes/byte-view.ts';
import type { Diagnostics } from '../base/problems/diagnostics.ts';
import type { Profile } from '../profile/profile.ts';
import type { SessionResult } from '../session/session.ts';
import type { SymbolTable } from '../symbol-table/symbol-table.ts';
import type { TraceFormat } from '../tracing/format.ts';
import { compileTracePrinter, type ResolveSymbol, type TracePrinter, type TracePrinterOptions } from '../tracing/printer.ts';
import type { TracingData } from '../tracing/tracing-data.ts';
import type { Word } from '../tracing/word.ts';

/** The function at an address, and the address's offset from its start. */
type SymbolAtAddress = NonNullable<ReturnType<ResolveSymbol>>;

/** Print formats that name functions. Source: the kernel's documentation, printk-formats.rst. */
const NAMES_FUNCTIONS = /%[-0-9]*p[sSfF]/;

/**
 * Shows the payloads of a recording's tracepoints as text. Payloads may hold addresses of kernel functions: these are
 * collected beforehand and named together with the locations of their DSOs, so that showing a payload needs no look-up.
 */
export class PayloadTexts {
  readonly #profile: Profile;
  readonly #session: SessionResult;
  readonly #printers: PayloadPrinters | undefined;
  readonly #names = new Map<Word, SymbolAtAddress>();
  /** By DSO: the addresses that have no names yet. */
  readonly #unnamed = new Map<number, Word[]>();

  /** @param compatPerf like perf 6.1, which names no functions in the payloads of a recording that came through a pipe */
  constructor(profile: Profile, session: SessionResult, compatPerf: boolean) {
    const { tracingData } = session.features;
    this.#profile = profile;
    this.#session = session;
    this.#printers = tracingData && new PayloadPrinters(tracingData, { compatPerf, resolve: (address) => this.#names.get(address) });
    if (tracingData !== undefined && !(compatPerf && session.header.mode === 'pipe')) this.#collectAddresses(tracingData, compatPerf);
  }

  /** Whether payloads hold addresses in a DSO that still have no names. */
  wants(dso: number): boolean {
    return this.#unnamed.has(dso);
  }

  /** Names the addresses that a DSO's symbol table covers. */
  nameBy(dso: number, table: SymbolTable): void {
    const left: Word[] = [];
    for (const address of this.#unnamed.get(dso) ?? []) {
      const at = signedNumber(address);
      const symbol = table.find(at);
      if (symbol >= 0) this.#names.set(address, { name: table.name(symbol), offset: at - table.start(symbol) });
      else left.push(address);
    }
    if (left.length > 0) this.#unnamed.set(dso, left);
    else this.#unnamed.delete(dso);
  }

  /** Gives each tracepoint the function that shows its payloads as text, if the recording describes their format. */
  addToEvents(diagnostics: Diagnostics): void {
    this.#session.events.forEach(({ name }, index) => {
      const event = this.#profile.events[index];
      if (!event.isTracepoint || event.samples === 0) return;
      const id = this.#formatOf(index);
      const printers = this.#printers;
      if (id !== undefined && printers !== undefined) event.showPayload = (payload) => printers.show(payload, id);
      else diagnostics.add('no-tracing-data', 'warning', `${name}: the recording does not describe its payloads, so they are not shown`);
    });
  }

  /** The id of a tracepoint's format; undefined if the recording does not describe it. */
  #formatOf(event: number): number | undefined {
    const id = Number(this.#session.events[event].attr.config);
    return this.#session.features.tracingData?.formats.has(id) === true ? id : undefined;
  }

  /**
   * Collects the addresses that need names, by printing all payloads whose formats name functions and dropping the
   * text.
   */
  #collectAddresses(tracingData: TracingData, compatPerf: boolean): void {
    const addresses = new Set<Word>();
    const collect = (address: Word): undefined => {
      addresses.add(address);
      return undefined;
    };
    const collector = new PayloadPrinters(tracingData, { compatPerf, resolve: collect }, ({ printFmt }) => NAMES_FUNCTIONS.test(printFmt));
    for (const [index, { isTracepoint }] of this.#profile.events.entries()) {
      const id = isTracepoint ? this.#formatOf(index) : undefined;
      if (id !== undefined) for (const payload of payloadsOf(this.#profile, index)) collector.show(payload, id);
    }
    for (const address of addresses) {
      const dso = this.#session.kernelDsoAt(signedNumber(address));
      const group = this.#unnamed.get(dso);
      if (group !== undefined) group.push(address);
      else if (dso >= 0) this.#unnamed.set(dso, [address]);
    }
  }
}

/** Printers of payloads, one for each format, compiled when first needed. */
class PayloadPrinters {
  readonly #data: TracingData;
  readonly #options: TracePrinterOptions;
  readonly #shows: (format: TraceFormat) => boolean;
  readonly #printers = new Map<number, TracePrinter>();

  /** @param shows which formats are printed; the text of the others is empty */
  constructor(data: TracingData, options: TracePrinterOptions, shows: (format: TraceFormat) => boolean = () => true) {
    this.#data = data;
    this.#options = options;
    this.#shows = shows;
  }

  /**
   * Shows a payload by the type at its beginning, as perf 6.1 does: all samples of a group carry the payload of the
   * event that was sampled.
   * @param ownId the event's own format, for a type that is unknown
   */
  show(payload: Uint8Array, ownId: number): string {
    const view = new ByteView(payload, this.#data.littleEndian);
    const type = payload.length < 2 ? ownId : view.u16(0);
    return this.#printer(this.#data.formats.has(type) ? type : ownId)(view, 0, payload.length);
  }

  #printer(id: number): TracePrinter {
    const known = this.#printers.get(id);
    if (known !== undefined) return known;
    const format = this.#data.formats.get(id);
    const printer = format !== undefined && this.#shows(format) ? compileTracePrinter(format, this.#data, this.#options) : () => '';
    this.#printers.set(id, printer);
    return printer;
  }
}

function* payloadsOf({ samples }: Profile, event: number): Generator<Uint8Array> {
  if (samples?.details === undefined) return;
  const { details, detail } = samples;
  for (let row = 0; row < samples.size; row++) {
    if (samples.event[row] === event && detail[row] >= 0) yield details.raw(detail[row]);
  }
}

/** An address as a signed double, which is exact for the kernel's addresses. */
function signedNumber(address: Word): number {
  return addressOfBig(BigInt(address));
}
