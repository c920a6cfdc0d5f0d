/**
 * How long commands would take on an input: CPU time, not wall time, which is longer on a busy machine. The fuzzer
 * reads an input once, writes it in several formats and checks the outputs; a command reads it and writes it once.
 */
export class CommandTimes {
  /** CPU time of the slowest command so far, per file that it reads. */
  slowestMs = 0;
  /** Time measured by {@link reading}. */
  #readingMs = 0;

  /** Measures the reading of a profile, which is part of every command. */
  reading<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#timed(work, (ms) => {
      this.#readingMs = ms;
      return ms;
    });
  }

  /** Measures what a command does with the profile that was read. @param files number of such profiles that it reads */
  rest<Result>(work: () => Promise<Result>, files = 1): Promise<Result> {
    return this.#timed(work, (ms) => this.#readingMs + ms / files);
  }

  /** Measures a command that reads the input itself. */
  whole<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#timed(work, (ms) => ms);
  }

  /** @param commandMs computes the time of the command from that of the work */
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
