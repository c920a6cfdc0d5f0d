import type { SeedKind } from '../seeds/seed.ts';
import { collectSeeds } from '../seeds/seeds.ts';
import { Campaign } from './campaign.ts';
import { Child } from './child-process.ts';
import { type Finding, saveFinding, signatureOf } from './finding.ts';
import type { Progress, Suspicion } from './messages.ts';
import { minimize } from './minimize.ts';

/** What to fuzz, and for how long. */
export interface RunOptions {
  readonly seed: number;
  readonly kinds: readonly SeedKind[];
  readonly corpus: string;
  readonly from: number;
  /** Maximum number of inputs. */
  readonly count: number;
  readonly seconds: number;
  /** Folder for findings. */
  readonly findings: string;
  readonly print: (line: string) => void;
}

const QUICK_TRIES = 600;
const SLOW_TRIES = 25;
/** How many findings of the same cause are kept. Further ones are only counted. */
const KEPT_PER_CAUSE = 2;

interface Cause {
  count: number;
  /** Path of the first finding; later ones of the same cause are not minimized. */
  firstPath: string;
}

/** Runs a campaign and prints its progress. @returns number of different causes found */
export async function runCampaign(options: RunOptions): Promise<number> {
  const run = new Run(options);
  try {
    await run.work();
  } finally {
    run.close();
  }
  return run.causes;
}

class Run {
  readonly #options: RunOptions;
  readonly #campaign: Campaign;
  readonly #runner = new Child();
  readonly #tester = new Child();
  readonly #causes = new Map<string, Cause>();
  readonly #inputs = new Map<SeedKind, number>();
  #suspicions: Suspicion[] = [];
  /** Signatures of all suspicions. */
  readonly #seen = new Set<string>();
  #total = 0;
  #refused = 0;
  #samples = 0;
  #unread = 0;
  #slowest = { index: 0, ms: 0 };
  #nextLine = 0;
  readonly #started = Date.now();

  constructor(options: RunOptions) {
    this.#options = options;
    this.#campaign = new Campaign(options.seed, collectSeeds(options.corpus), options.kinds);
  }

  get causes(): number {
    return this.#causes.size;
  }

  async work(): Promise<void> {
    const { seed, kinds, corpus, from, count, seconds, print } = this.#options;
    const deadline = this.#started + seconds * 1000;
    const to = from + count;
    print(`seed ${seed}, from input ${from} on; kinds: ${kinds.join(', ')}`);
    for (let next = from; next < to && Date.now() < deadline; ) {
      next = await this.#runner.run(
        { seed, kinds, corpus, from: next, to, deadline },
        { progress: (it) => this.#take(it), suspicion: (it) => this.#suspect(it) },
      );
      await this.#look();
    }
    this.#printTotals();
  }

  close(): void {
    this.#runner.close();
    this.#tester.close();
  }

  #take(progress: Progress): void {
    for (const [kind, count] of Object.entries(progress.inputs) as [SeedKind, number][]) {
      this.#inputs.set(kind, (this.#inputs.get(kind) ?? 0) + count);
      this.#total += count;
    }
    this.#refused += progress.refused;
    this.#samples += progress.samples;
    this.#unread += progress.unread;
    if (progress.slowest.ms > this.#slowest.ms) this.#slowest = progress.slowest;
    if (Date.now() < this.#nextLine) return;
    this.#nextLine = Date.now() + 10_000;
    this.#options.print(`${this.#total} inputs, ${this.#rate()}/s, ${this.#suspicions.length} suspicions, ${this.#causes.size} findings`);
  }

  #suspect(suspicion: Suspicion): void {
    this.#suspicions.push(suspicion);
    const signature = signatureOf(suspicion.what);
    if (this.#seen.has(signature)) return;
    this.#seen.add(signature);
    this.#options.print(`input ${suspicion.index}: ${signature}`);
  }

  /** Reads a suspicious input again in a process of its own. If it fails again, minimizes and keeps it. */
  async #look(): Promise<void> {
    const suspicions = this.#suspicions;
    this.#suspicions = [];
    for (const { index, what } of suspicions) {
      const known = this.#causes.get(signatureOf(what));
      if (known !== undefined && known.count >= KEPT_PER_CAUSE) {
        known.count++;
        continue;
      }
      await this.#confirm(index, what);
    }
  }

  async #confirm(index: number, suspected: string): Promise<void> {
    const { kind, seedName, files, plan } = this.#campaign.trial(index);
    this.#tester.stop();
    const what = await this.#tester.try({ files, plan });
    if (what === undefined) {
      this.#options.print(`input ${index}: ${suspected.split('\n')[0]}: did not happen again when it was read alone`);
      return;
    }
    const signature = signatureOf(what);
    const known = this.#causes.get(signature);
    const isSlow = /^took|^the process died/.test(what);
    const stillFails = async (candidate: typeof files): Promise<boolean> => {
      if (isSlow) this.#tester.stop();
      const found = await this.#tester.try({ files: candidate, plan });
      return found !== undefined && signatureOf(found) === signature;
    };
    const smallest = known === undefined ? await minimize(files, stillFails, isSlow ? SLOW_TRIES : QUICK_TRIES) : files;
    const finding: Finding = { seed: this.#options.seed, index, kind, seedName, plan, what, files: smallest };
    const path = saveFinding(this.#options.findings, finding);
    if (known !== undefined) {
      known.count++;
      return;
    }
    this.#causes.set(signature, { count: 1, firstPath: path });
    this.#options.print(`FINDING ${path} (${sizeOf(files)} bytes, now ${sizeOf(smallest)})\n${what.split('\n').slice(0, 8).join('\n')}`);
  }

  #rate(): number {
    return Math.round((this.#total * 1000) / Math.max(1, Date.now() - this.#started));
  }

  #printTotals(): void {
    const { print } = this.#options;
    const perKind = [...this.#inputs].map(([kind, count]) => `${kind} ${count}`).join(', ');
    print(`${this.#total} inputs in ${Math.round((Date.now() - this.#started) / 1000)} s (${this.#rate()}/s): ${perKind}`);
    print(
      `${this.#refused} refused with a typed error; ${this.#samples} samples read from the others; slowest: input ${this.#slowest.index}, ${Math.round(this.#slowest.ms)} ms`,
    );
    if (this.#unread > 0) print(`${this.#unread} outputs were too large to be checked`);
    for (const [signature, { count, firstPath }] of this.#causes) print(`${count} × ${signature}\n    ${firstPath}`);
    print(this.#causes.size === 0 ? 'no findings' : `${this.#causes.size} findings`);
  }
}

function sizeOf(files: ReadonlyMap<string, Uint8Array>): number {
  return [...files.values()].reduce((sum, bytes) => sum + bytes.length, 0);
}
