import { hostname } from 'node:os';
import { endBySignal, listenToSignals } from '../../host/program/signals.ts';
import { canShowBrowser, openInBrowser } from '../../host/server/browser.ts';
import { type KeptPage, PageSink } from '../../host/server/kept-page.ts';
import { LOOPBACK, PageServer } from '../../host/server/page-server.ts';
import { convert } from '../../pipeline/convert.ts';
import { PAGE_POLICY } from '../../pipeline/page-policy.ts';
import type { ReadProfileOptions } from '../../pipeline/read-profile.ts';
import type { WriteOptions } from '../../pipeline/write-profile.ts';
import type { Arguments } from '../command-line/arguments.ts';
import { checkDistinct, checkPrinting } from '../plans/output-conflicts.ts';
import { optionsByPlan, planReading, type ReadingPlan } from '../plans/reading.ts';
import { checkSymbolPaths } from '../plans/symbol-paths.ts';
import { planPage } from '../plans/writing.ts';
import { redrawLine } from '../printing/standard-error.ts';
import { standardOutput } from '../printing/standard-output.ts';
import type { Terminal } from '../printing/terminal.ts';
import { inputsOf, Run } from '../run/run.ts';
import { convertMerged } from './convert-merged.ts';

/** The signals that are the regular end. SIGHUP is not one: its terminal is gone, and Node aborts if it then ends by itself. Observed: Node 20. */
const REGULAR_ENDS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];

/** `perfconv view`. The address is its result, so that other programs can read it; everything else goes to standard error. */
export async function runView(args: Arguments, terminal: Terminal): Promise<number> {
  const inputs = inputsOf(args);
  const reading = planReading(args, terminal);
  const writing = planPage(args);
  const port = args.port('port');
  checkPrinting(inputs, args, terminal);
  if (inputs.length > 1) checkDistinct(inputs, terminal);
  checkSymbolPaths(args, terminal);
  const stdout = standardOutput(terminal);
  // Before the work, so that a port that is in use is reported at once.
  const server = await PageServer.open(port ?? 0, port === undefined ? LOOPBACK : `--port ${port}`);
  try {
    const run = new Run(inputs, args, terminal, { optionsOf: optionsByPlan(reading) });
    let page: KeptPage | undefined;
    const status = await run.complete(async () => {
      page = await makePage(run, reading, writing);
    });
    if (page === undefined) return status;
    server.show(page);
    const signal = await untilInterrupted(async () => {
      await stdout.write(new TextEncoder().encode(`${server.url}\n`));
      await offer(server, run, args, terminal);
    });
    if (!REGULAR_ENDS.includes(signal)) endBySignal(signal);
    // The terminal has printed ^C.
    if (terminal.stderr.isTTY) redrawLine(terminal, '');
    return status;
  } finally {
    await server.close();
  }
}

async function makePage(run: Run<ReadProfileOptions>, reading: ReadingPlan, writing: WriteOptions): Promise<KeptPage> {
  const sink = new PageSink();
  const outputs = [{ format: 'html', sink }] as const;
  if (run.inputs.length > 1) await convertMerged(run, outputs, { ...writing, filter: reading.filter });
  else await run.read(({ source, options, diagnostics }) => convert(source, outputs, { ...options, ...writing }, diagnostics));
  return sink.end(PAGE_POLICY);
}

/** Does some work, then waits for a signal. If something keeps the program after a regular end, one more signal ends it. @returns the signal */
async function untilInterrupted(work: () => Promise<void>): Promise<NodeJS.Signals> {
  let interrupt: (signal: NodeJS.Signals) => void = () => {};
  const interrupted = new Promise<NodeJS.Signals>((resolve) => {
    interrupt = resolve;
  });
  const stopListening = await listenToSignals((signal) => interrupt(signal), REGULAR_ENDS);
  try {
    await work();
    return await interrupted;
  } finally {
    stopListening();
  }
}

/** Opens the page in a browser, or says how to. */
async function offer(server: PageServer, run: Run<ReadProfileOptions>, args: Arguments, terminal: Terminal): Promise<void> {
  const isSeen = canShowBrowser(terminal.env);
  const opens = isSeen && !args.flag('no-open');
  run.note(opens ? 'opening it in the browser; the page is there until Ctrl-C' : 'the page is there until Ctrl-C');
  if (!isSeen) run.note(`to see it on your own machine, run there: ssh -NL ${server.port}:${LOOPBACK}:${server.port} ${hostname()}`);
  if (!opens) return;
  await openInBrowser(server.ticketUrl, terminal.env, (failure) => {
    if (!server.isTicketUsed) run.note(`no browser was started (${failure}): open the address yourself`);
  });
}
