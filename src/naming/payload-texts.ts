import { addressOfBig } from '../base/addresses.ts';
import { ByteView } from '../base/byte-view.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import type { Profile } from '../profile/profile.ts';
import type { SessionResult } from '../session/session.ts';
import type { RecordingSymbols } from '../symbolizer/recording-symbols.ts';
import type { TraceFormat } from '../tracing/format.ts';
import { compileTracePrinter, type ResolveSymbol, type TracePrinter, type TracePrinterOptions } from '../tracing/printer.ts';
import type { TracingData } from '../tracing/tracing-data.ts';
import type { Word } from '../tracing/word.ts';

/** Print formats that name functions. Source: the kernel's documentation, printk-formats.rst. */
const NAMES_FUNCTIONS = /%[-0-9]*p[sSfF]/;

/**
 * Gives tracepoints the function that shows their payloads as text, if the recording says what is in them. The kernel
 * functions that payloads hold addresses of are looked up beforehand: whoever shows them waits for nothing.
 */
export async function addPayloadTexts(
  profile: Profile,
  session: SessionResult,
  options: { readonly symbols: RecordingSymbols | undefined; readonly compatPerf: boolean },
  diagnostics: Diagnostics,
): Promise<void> {
  const { tracingData } = session.features;
  const { compatPerf } = options;
  const addresses = new Set<Word>();
  const names = new Map<Word, ReturnType<ResolveSymbol>>();
  const collect = (address: Word): undefined => {
    addresses.add(address);
    return undefined;
  };
  const collector = tracingData && new PayloadPrinters(tracingData, { compatPerf, resolve: collect }, (format) => NAMES_FUNCTIONS.test(format.printFmt));
  const printers = tracingData && new PayloadPrinters(tracingData, { compatPerf, resolve: (address) => names.get(address) });
  session.events.forEach(({ attr, name }, index) => {
    const event = profile.events[index];
    if (!event.isTracepoint || event.samples === 0) return;
    const id = Number(attr.config);
    if (tracingData?.formats.has(id) !== true || printers === undefined || collector === undefined) {
      diagnostics.add('no-tracing-data', 'warning', `${name}: the recording does not say what its payloads mean: they are not shown`);
      return;
    }
    event.showPayload = (payload) => printers.show(payload, id);
    for (const payload of payloadsOf(profile, index)) collector.show(payload, id);
  });
  // perf 6.1 names no functions in the texts of a pipe's tracepoints.
  if (options.symbols === undefined || addresses.size === 0 || (compatPerf && session.header.mode === 'pipe')) return;
  await nameAddresses(addresses, names, session, options.symbols);
}

/** Printers of payloads by their format, each compiled when it is first needed. */
class PayloadPrinters {
  readonly #data: TracingData;
  readonly #options: TracePrinterOptions;
  readonly #shows: (format: TraceFormat) => boolean;
  readonly #printers = new Map<number, TracePrinter>();

  /** @param shows tells which formats are shown; those of others are empty */
  constructor(data: TracingData, options: TracePrinterOptions, shows: (format: TraceFormat) => boolean = () => true) {
    this.#data = data;
    this.#options = options;
    this.#shows = shows;
  }

  /**
   * Shows a payload by the type that stands at its beginning, as perf 6.1 does: a group's samples come with the payload of
   * the one that was sampled.
   * @param ownId the event's own format, for a type that is not known
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

/** Fills `names` with the kernel functions at `addresses`. */
async function nameAddresses(
  addresses: ReadonlySet<Word>,
  names: Map<Word, ReturnType<ResolveSymbol>>,
  session: SessionResult,
  recordingSymbols: RecordingSymbols,
): Promise<void> {
  const byDso = new Map<number, Word[]>();
  for (const address of addresses) {
    const dso = session.kernelDsoAt(signedNumber(address));
    if (dso < 0) continue;
    const group = byDso.get(dso);
    if (group === undefined) byDso.set(dso, [address]);
    else group.push(address);
  }
  const kernelsFirst = [...byDso].sort(([a], [b]) => Number(session.dsos[b].kind === 'kernel') - Number(session.dsos[a].kind === 'kernel'));
  for (const [index, group] of kernelsFirst) {
    const dso = session.dsos[index];
    if (dso.isOneFunction) {
      for (const address of group) names.set(address, { name: dso.name, offset: signedNumber(address) - dso.start });
      continue;
    }
    const code = await recordingSymbols.symbolsFor({
      name: dso.name,
      kind: dso.kind,
      buildId: dso.buildId,
      osRelease: session.features.osrelease ?? '',
      ...(dso.referenceSymbol !== '' && { referenceSymbol: dso.referenceSymbol, referenceAddress: dso.referenceAddress }),
    });
    const symbols = code?.table;
    if (symbols === undefined) continue;
    for (const address of group) {
      const symbol = symbols.find(signedNumber(address));
      if (symbol >= 0) names.set(address, { name: symbols.name(symbol), offset: signedNumber(address) - symbols.start(symbol) });
    }
  }
}

/** An address as a signed double, in which the kernel's are exact. */
function signedNumber(address: Word): number {
  return addressOfBig(BigInt(address));
}
