import { KeptRules } from '../../unwind/walk/kept-rules.ts';
import type { SessionProcess } from '../processes/tasks.ts';

/** A power of two. Processes whose numbers have the same low bits share a place. */
const PLACES = 256;

/** What libunwind keeps about a process. */
interface ProcessRules {
  readonly process: SessionProcess;
  readonly execs: number;
  readonly rules: KeptRules;
}

/** What libunwind keeps about processes, each until it executes another program. */
export class AllProcessRules {
  readonly #places: (ProcessRules | undefined)[] = Array.from({ length: PLACES }, () => undefined);

  of(process: SessionProcess): KeptRules {
    const { pid, execs } = process;
    const place = pid & (PLACES - 1);
    let kept = this.#places[place];
    if (kept?.process !== process || kept.execs !== execs) {
      kept = { process, execs, rules: new KeptRules() };
      this.#places[place] = kept;
    }
    return kept.rules;
  }
}
