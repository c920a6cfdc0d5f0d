import { ByteView } from './bytes/byte-view.ts';
import type { Diagnostics } from './diagnostics.ts';
import { PERF_TYPE_TRACEPOINT } from './perfdata/constants.ts';
import { compileTracePrinter, type ResolveSymbol } from './perfdata/trace-printer.ts';
import type { Word } from './perfdata/trace-word.ts';
import type { Profile } from './profile/profile.ts';
import type { SessionResult } from './session/session.ts';
import type { Symbolizer } from './symbols/symbolizer.ts';

/** Print formats that name functions. Source: the kernel's documentation, printk-formats.rst. */
const NAMES_FUNCTIONS = /%[-0-9]*p[sSfF]/;

/**
 * Gives tracepoints the function that shows their payloads as text, if the recording says what is in them. The kernel
 * functions that payloads hold addresses of are looked up beforehand: whoever shows them waits for nothing.
 */
export async function addPayloadTexts(
  profile: Profile,
  session: SessionResult,
  options: { readonly symbolizer: Symbolizer | undefined; readonly compatPerf: boolean },
  diagnostics: Diagnostics,
): Promise<void> {
  const { tracingData } = session.features;
  const addresses = new Set<Word>();
  const names = new Map<Word, ReturnType<ResolveSymbol>>();
  session.events.forEach(({ attr, name }, index) => {
    const event = profile.events[index];
    if (attr.type !== PERF_TYPE_TRACEPOINT || event.samples === 0) return;
    const format = tracingData?.formats.get(Number(attr.config));
    if (tracingData === undefined || format === undefined) {
      diagnostics.add('no-tracing-data', 'warning', `${name}: the recording does not say what its payloads mean: they are not shown`);
      return;
    }
    const { littleEndian } = tracingData;
    const { compatPerf } = options;
    const print = compileTracePrinter(format, tracingData, { compatPerf, resolve: (address) => names.get(address) });
    event.showPayload = (payload) => print(new ByteView(payload, littleEndian), 0, payload.length);
    if (!NAMES_FUNCTIONS.test(format.printFmt)) return;
    const collect = compileTracePrinter(format, tracingData, {
      compatPerf,
      resolve: (address) => {
        addresses.add(address);
        return undefined;
      },
    });
    for (const payload of payloadsOf(profile, index)) collect(new ByteView(payload, littleEndian), 0, payload.length);
  });
  if (options.symbolizer !== undefined && addresses.size > 0) await nameAddresses(addresses, names, session, options.symbolizer);
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
  symbolizer: Symbolizer,
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
    const symbols = await symbolizer.symbolsFor({
      name: dso.name,
      kind: dso.kind,
      buildId: dso.buildId,
      osRelease: session.features.osrelease ?? '',
      ...(dso.referenceSymbol !== '' && { referenceSymbol: dso.referenceSymbol, referenceAddress: dso.referenceAddress }),
      isNamed: true,
    });
    if (symbols === undefined) continue;
    for (const address of group) {
      const symbol = symbols.find(signedNumber(address));
      if (symbol >= 0) names.set(address, { name: symbols.name(symbol), offset: signedNumber(address) - symbols.start(symbol) });
    }
  }
}

/** An address as a signed double, in which the kernel's are exact. */
function signedNumber(address: Word): number {
  return Number(BigInt.asIntN(64, BigInt(address)));
}
