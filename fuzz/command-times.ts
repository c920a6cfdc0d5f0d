/**
 * How long commands would take on an input: processor time, not the wall's, since on a busy machine an input waits for others. The fuzzer
 * reads an input once, writes it in several ways and looks at what was written: a command reads it and writes it once.
 */
export class CommandTimes {
  /** Of the slowest command so far, for each file that it reads. */
  slowestMs = 0;
  /** Of {@link reading}. */
  #readingMs = 0;

  /** Times the reading of a profile, which commands have in common. */
  reading<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#timed(work, (ms) => {
      this.#readingMs = ms;
      return ms;
    });
  }

  /** Times what a command does with the profile that was read. @param files how many such profiles it takes */
  rest<Result>(work: () => Promise<Result>, files = 1): Promise<Result> {
    return this.#timed(work, (ms) => this.#readingMs + ms / files);
  }

  /** Times a command that reads for itself. */
  whole<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#timed(work, (ms) => ms);
  }

  /** @param commandMs from the work's time to the command's */
  async #timed<Result>(work: () => Promise<Result>, commandMs: (ms: number) => number): Promise<Result> {
    const start = process.cpuUsage();
    try {
      return await work();
    } finally {
      const { user, system } = process.cpuUsage(start);
      this.slowestMs = Math.max(this.slowestMs, commandMs((user + system) / 1000));
    }
  }
}
