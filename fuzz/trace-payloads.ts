import { ByteView } from '../src/bytes/byte-view.ts';
import { compileTracePrinter, type TracePrinter } from '../src/perfdata/trace-printer.ts';
import type { TracingData } from '../src/perfdata/tracing-data.ts';

/** One after the other is shown so many payloads: each costs as much as its format is long. */
const MAX_PRINTED = 64;

/** Shows the payloads of tracepoints as the recording's own formats want it. */
export class TracePayloads {
  readonly #data: TracingData | undefined;
  readonly #printers = new Map<number, TracePrinter>();
  #printed = 0;

  constructor(data: TracingData | undefined) {
    this.#data = data;
  }

  print(payload: Uint8Array): void {
    if (this.#data === undefined || payload.length < 2 || this.#printed++ >= MAX_PRINTED) return;
    const view = new ByteView(payload, this.#data.littleEndian);
    const id = view.u16(0);
    const format = this.#data.formats.get(id);
    if (format === undefined) return;
    const printer = this.#printers.get(id) ?? compileTracePrinter(format, this.#data);
    this.#printers.set(id, printer);
    printer(view, 0, payload.length);
  }
}
