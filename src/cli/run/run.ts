import { existsSync } from 'node:fs';
import { DEFAULT_RECORDING, STANDARD_STREAM } from '../../base/names/input-names.ts';
import { Diagnostics } from '../../base/problems/diagnostics.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { COMMAND_LINE_OPTIONS } from '../../base/problems/option-words.ts';
import { type RecordingSource, recordingBytes } from '../../base/streams/byte-source.ts';
import type { OpenInput } from '../../base/streams/recording-input.ts';
import { openFile, openStandardInput } from '../../host/input/open-input.ts';
import { removeUnfinished } from '../../host/output/unfinished-files.ts';
import { ProgressBar } from '../../host/program/progress-bar.ts';
import { endBySignal, listenToSignals } from '../../host/program/signals.ts';
import type { OpenedFiles } from '../../host/system/opened-files.ts';
import { isPipeAt } from '../../host/system/pipes.ts';
import type { DsoSymbols } from '../../naming/dso-symbols.ts';
import type { ReadProfileOptions } from '../../pipeline/read-profile.ts';
import type { Arguments } from '../command-line/arguments.ts';
import type { PlannedOutput } from '../plans/outputs.ts';
import { displayName, lossLines, summaryLines, withoutNotes } from '../printing/messages.ts';
import { printMessage, redrawLine } from '../printing/standard-error.ts';
import type { Terminal } from '../printing/terminal.ts';
import { EXIT_DONE, EXIT_FAILED, EXIT_LOSS, EXIT_USAGE } from './exit-status.ts';
import { reportFailure } from './failures.ts';
import { inputLabels } from './input-labels.ts';
import { OpenOutputs } from './open-outputs.ts';

/** The inputs that a command line names. */
export function inputsOf(args: Arguments): readonly string[] {
  return args.inputs.length > 0 ? args.inputs : [DEFAULT_RECORDING];
}

export interface RunSettings<Options> {
  /** The library's options for an open input. @param diagnostics gets what is found while it is read */
  readonly optionsOf: (input: OpenInput, diagnostics: Diagnostics) => Options;
  /** Whether other inputs are converted before or after this one, each by itself: then findings name the input. */
  readonly isOneOfSeveral?: boolean;
  /** Whether the command prints the findings as part of its result: then they are not reported on standard error. */
  readonly hasFindingsInResult?: boolean;
}

/** What the reports of some work are about. */
interface Reported {
  /** The input that is read; undefined if there are several. */
  readonly input: string | undefined;
  readonly diagnostics: Diagnostics;
  /** Whether findings name the input, which is not clear otherwise. Failures always do. */
  readonly isNamed: boolean;
}

/** An input that is open. */
export interface ReadInput<Options> {
  readonly source: RecordingSource;
  /** The library's options for reading it. */
  readonly options: Options & Pick<ReadProfileOptions, 'onProgress' | 'onSymbols'>;
  /** Gets the findings. */
  readonly diagnostics: Diagnostics;
}

/**
 * A command at work: it reads inputs and makes one result of them. However it ends, its inputs are closed, unfinished
 * outputs are removed, the progress bar is cleared, and findings and failures are reported.
 */
export class Run<Options extends object> {
  readonly inputs: readonly string[];
  /** The findings about the result. With several inputs, each has its own as well. */
  readonly diagnostics = new Diagnostics(COMMAND_LINE_OPTIONS);
  readonly #args: Arguments;
  readonly #terminal: Terminal;
  readonly #settings: RunSettings<Options>;
  #outputs: OpenOutputs | undefined;
  /** How the reading of each of several inputs ended. */
  readonly #statuses: number[] = [];

  constructor(inputs: readonly string[], args: Arguments, terminal: Terminal, settings: RunSettings<Options>) {
    this.inputs = inputs;
    this.#args = args;
    this.#terminal = terminal;
    this.#settings = settings;
  }

  /**
   * Runs the command: everything else happens in `work`.
   * @returns the exit status: a failure if one of several inputs is missing from the result
   */
  async complete(work: () => Promise<void>): Promise<number> {
    const input = this.inputs.length === 1 ? this.inputs[0] : undefined;
    const about = { input, diagnostics: this.diagnostics, isNamed: this.#settings.isOneOfSeveral ?? false };
    const status = await this.#reporting(about, () => this.#untilSignal(work));
    if (this.#statuses.some(isFailure)) return EXIT_FAILED;
    return [status, ...this.#statuses].find((one) => one !== EXIT_DONE) ?? EXIT_DONE;
  }

  /** Reads the only input. Its findings are those of the result. */
  read<T>(use: (recording: ReadInput<Options>) => Promise<T>): Promise<T> {
    return this.#read(this.inputs[0], this.diagnostics, use);
  }

  /**
   * Reads all inputs, one after the other. One that cannot be read is reported, and the result is made of the others.
   * @param use reads one input; `label` is the input's name in the result
   * @param keep called after each input that was read. An error it throws is not the input's, and ends the run
   * @throws PerfconvError `io` when none could be read
   */
  async readEach(use: (recording: ReadInput<Options>, label: string) => Promise<unknown>, keep?: () => Promise<void>): Promise<void> {
    const labels = inputLabels(this.inputs);
    for (const [index, input] of this.inputs.entries()) {
      if (await this.#readOne(input, (recording) => use(recording, labels[index]))) await keep?.();
    }
    const [missing, all] = [this.#statuses.filter(isFailure).length, this.inputs.length];
    if (missing === all) throw new PerfconvError('io', 'none of the inputs could be read: nothing was written');
    if (missing > 0) {
      this.diagnostics.add('merge-missing', 'warning', `the result holds ${all - missing} of ${all} inputs: the others could not be read`);
    }
  }

  /**
   * Reads all inputs, one after the other, up to the first one that cannot be read.
   * @param use reads one input; `label` is the input's name in the result
   * @returns whether all were read. A failure has been reported, and decides about the exit status
   */
  async readAll(use: (recording: ReadInput<Options>, label: string) => Promise<unknown>): Promise<boolean> {
    const labels = inputLabels(this.inputs);
    for (const [index, input] of this.inputs.entries()) {
      if (!(await this.#readOne(input, (recording) => use(recording, labels[index])))) return false;
    }
    return true;
  }

  /** Reads one of several inputs. @returns whether it was read; a failure has been reported */
  async #readOne(input: string, use: (recording: ReadInput<Options>) => Promise<unknown>): Promise<boolean> {
    const diagnostics = new Diagnostics(COMMAND_LINE_OPTIONS);
    const status = await this.#reporting({ input, diagnostics, isNamed: true }, async () => {
      await this.#read(input, diagnostics, use);
    });
    this.#statuses.push(status);
    return !isFailure(status);
  }

  /**
   * Opens the outputs. That comes before the work, so that an output that cannot be written is reported at once.
   * @param openedFiles files that are read, which no output may replace
   * @throws PerfconvError `io`
   */
  async openOutputs(planned: readonly PlannedOutput[], openedFiles: OpenedFiles): Promise<OpenOutputs> {
    // Known before they are opened, so that the first ones are removed if a later one cannot be opened.
    this.#outputs = new OpenOutputs(planned, this.#terminal, openedFiles);
    await this.#outputs.open();
    return this.#outputs;
  }

  /**
   * Moves the outputs into place, and reports the paths that the user did not choose.
   * @throws PerfconvError `io`, `usage`
   */
  async commitOutputs(): Promise<void> {
    if (this.#outputs === undefined) return;
    for (const { name, reason } of await this.#outputs.commit()) this.note(`wrote ${displayName(name)} in place: ${reason}`);
    for (const { path, isChosen } of this.#outputs.planned) if (!isChosen) this.note(`wrote ${displayName(path)}`);
  }

  /** Prints what is worth knowing, unless the user wants quiet. */
  note(text: string): void {
    if (!this.#args.flag('quiet')) printMessage(this.#terminal, `perfconv: ${text}`);
  }

  /**
   * Does some work, then reports its findings, or its failure. If it fails because there are no samples, both are reported, since the findings often explain
   * it.
   * @returns the exit status
   */
  async #reporting({ input, diagnostics, isNamed }: Reported, work: () => Promise<void>): Promise<number> {
    const lossStatus = (): number | undefined => (this.#args.flag('strict') && diagnostics.hasLoss ? EXIT_LOSS : undefined);
    try {
      await work();
    } catch (error) {
      const hasNoSamples = error instanceof PerfconvError && error.code === 'no-samples';
      if (hasNoSamples) this.#reportFindings(diagnostics, isNamed ? input : undefined);
      const status = reportFailure(error, input, this.#terminal);
      return (hasNoSamples ? lossStatus() : undefined) ?? status;
    }
    this.#reportFindings(diagnostics, isNamed ? input : undefined);
    return lossStatus() ?? EXIT_DONE;
  }

  /** Reports findings; with `--quiet`, only data loss. @param input the input that lines name; undefined if it is clear */
  #reportFindings(diagnostics: Diagnostics, input: string | undefined): void {
    if (this.#settings.hasFindingsInResult) return;
    const found = diagnostics.list();
    const lines = this.#args.flag('quiet') ? lossLines(found) : summaryLines(this.#args.flag('verbose') ? found : withoutNotes(found));
    const prefix = input === undefined ? 'perfconv' : `perfconv: ${displayName(input)}`;
    for (const line of lines) printMessage(this.#terminal, `${prefix}: ${line}`);
  }

  /**
   * Does the work until a signal ends the program: then unfinished outputs are removed, and the program still ends by
   * that signal, so that a shell or make sees it (status 130 for Ctrl-C).
   *
   * If an input is a pipe that is still written to, the first Ctrl-C does not end the program. A terminal sends it to all programs of the pipeline: the
   * recorder ends properly, and the user wants what it recorded.
   */
  async #untilSignal(work: () => Promise<void>): Promise<void> {
    let pipe = this.inputs.find((input) => isPipeAt(input === STANDARD_STREAM ? this.#terminal.stdin.fd : input));
    const onSignal = (signal: NodeJS.Signals): void => {
      if (signal === 'SIGINT' && pipe !== undefined) {
        this.note(`interrupted: reading on to the end of ${displayName(pipe)}; interrupt again to give up`);
        pipe = undefined;
        return;
      }
      this.#outputs?.discardNow();
      removeUnfinished();
      stopListening();
      endBySignal(signal);
    };
    const stopListening = await listenToSignals(onSignal, pipe === undefined ? [] : ['SIGINT']);
    try {
      await work();
    } finally {
      stopListening();
      await this.#outputs?.discard();
    }
  }

  async #read<T>(input: string, diagnostics: Diagnostics, use: (recording: ReadInput<Options>) => Promise<T>): Promise<T> {
    const opened = await openInput(input, this.#terminal, diagnostics);
    const bar = this.#progressBar(opened.source);
    let dsos: readonly DsoSymbols[] | undefined;
    try {
      const options = {
        ...this.#settings.optionsOf(opened, diagnostics),
        ...(bar && { onProgress: (position: number) => bar.update(position) }),
        ...(this.#isAsked('explain-symbols') && {
          onSymbols: (found: readonly DsoSymbols[]) => {
            dsos = found;
          },
        }),
      };
      const result = await use({ source: opened.source, options, diagnostics });
      bar?.finish();
      if (dsos !== undefined) await this.#explainSymbols(dsos);
      return result;
    } finally {
      bar?.finish();
      await opened.source.close();
    }
  }

  /** undefined if standard error is not a terminal, or no progress bar is wanted. */
  #progressBar(source: RecordingSource): ProgressBar | undefined {
    if (!this.#terminal.stderr.isTTY || this.#args.flag('no-progress') || this.#args.flag('quiet')) return undefined;
    return new ProgressBar((text) => redrawLine(this.#terminal, text), displayName(source.name), recordingBytes(source));
  }

  async #explainSymbols(dsos: readonly DsoSymbols[]): Promise<void> {
    const { symbolsText } = await import('../printing/symbols-text.ts');
    for (const line of symbolsText(dsos).trimEnd().split('\n')) printMessage(this.#terminal, line);
  }

  /** Whether the command has this flag, and it was given. */
  #isAsked(flag: string): boolean {
    return this.#args.hasOption(flag) && this.#args.flag(flag);
  }
}

/** @param diagnostics gets what is wrong with a compressed input or a directory */
async function openInput(input: string, terminal: Terminal, diagnostics: Diagnostics): Promise<OpenInput> {
  if (input === STANDARD_STREAM) return openStandardInput(terminal.stdin, diagnostics);
  if (input === DEFAULT_RECORDING && !existsSync(input)) {
    // This happens to people who run the program without arguments to see what it does.
    throw new PerfconvError('io', 'no such file or directory; name a recording, or - for standard input (see perfconv --help)', { file: input });
  }
  return openFile(input, diagnostics);
}

/** Whether an input is missing from the result. An input with lost data is not. */
function isFailure(status: number): boolean {
  return status === EXIT_FAILED || status === EXIT_USAGE;
}
