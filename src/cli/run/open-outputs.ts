import { STANDARD_STREAM } from '../../base/names/input-names.ts';
import { GzipSink } from '../../host/compression/gzip-sink.ts';
import type { InPlaceOutput } from '../../host/output/output-commit.ts';
import { OutputStage } from '../../host/output/output-stage.ts';
import type { OpenedFiles } from '../../host/system/opened-files.ts';
import { CSV_TABLE_NAMES } from '../../pipeline/choices.ts';
import type { ConvertOutput } from '../../pipeline/convert.ts';
import type { PlannedOutput } from '../plans/outputs.ts';
import { isReaderGone, standardOutput } from '../printing/standard-output.ts';
import type { Terminal } from '../printing/terminal.ts';

/** The outputs of a conversion, which appear all together when they are committed, or not at all. */
export class OpenOutputs {
  readonly planned: readonly PlannedOutput[];
  /** The outputs as the library wants them. */
  readonly all: ConvertOutput[] = [];
  readonly #terminal: Terminal;
  readonly #stage: OutputStage;
  /** Compresses standard output, if that is asked for. */
  #compressor: GzipSink | undefined;

  /** @param openedFiles files that were read, which no output may replace */
  constructor(planned: readonly PlannedOutput[], terminal: Terminal, openedFiles: OpenedFiles) {
    this.planned = planned;
    this.#terminal = terminal;
    this.#stage = new OutputStage({ opened: openedFiles });
  }

  /** @throws PerfconvError `io` */
  async open(): Promise<void> {
    for (const { format, gzip, path } of this.planned) {
      if (format === 'csv') {
        this.all.push({ format, openTable: await this.#stage.openDirectory(path, CSV_TABLE_NAMES) });
      } else if (path === STANDARD_STREAM) {
        const stdout = standardOutput(this.#terminal);
        if (gzip) this.#compressor = new GzipSink(stdout);
        this.all.push({ format, sink: this.#compressor ?? stdout, isTerminal: this.#terminal.stdout.isTTY ?? false });
      } else {
        this.all.push({ format, sink: await this.#stage.openFile(path, gzip) });
      }
    }
  }

  /**
   * Waits until the outputs are written.
   * @throws what `writing` rejects with, unless the reader of standard output has gone
   */
  async written(writing: Promise<unknown>): Promise<void> {
    try {
      await writing;
      await this.#compressor?.end();
    } catch (error) {
      await this.#compressor?.destroy();
      // Standard output is written last: all other outputs are complete.
      if (!isReaderGone(error)) throw error;
    }
  }

  /**
   * Moves all files into place.
   * @returns the outputs that could only be overwritten in place
   * @throws PerfconvError `io`, `usage`
   */
  commit(): Promise<readonly InPlaceOutput[]> {
    return this.#stage.commit();
  }

  /** Removes unfinished files; does nothing after {@link commit}. Never throws. */
  discard(): Promise<void> {
    return this.#stage.discard();
  }

  /** Does what {@link discard} does, but synchronously, for a process that a signal ends. */
  discardNow(): void {
    this.#stage.discardNow();
  }
}
