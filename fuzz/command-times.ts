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
  async reading<Result>(work: () => Promise<Result>): Promise<Result> {
    const start = process.cpuUsage();
    try {
      return await work();
    } finally {
      this.#readingMs = millisecondsSince(start);
      this.#note(this.#readingMs);
    }
  }

  /** Times what a command does with the profile that was read. @param files how many such profiles it takes */
  async rest<Result>(work: () => Promise<Result>, files = 1): Promise<Result> {
    const start = process.cpuUsage();
    try {
      return await work();
    } finally {
      this.#note(this.#readingMs + millisecondsSince(start) / files);
    }
  }

  /** Times a command that reads for itself. */
  async whole<Result>(work: () => Promise<Result>): Promise<Result> {
    const start = process.cpuUsage();
    try {
      return await work();
    } finally {
      this.#note(millisecondsSince(start));
    }
  }

  #note(ms: number): void {
    this.slowestMs = Math.max(this.slowestMs, ms);
  }
}

function millisecondsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
