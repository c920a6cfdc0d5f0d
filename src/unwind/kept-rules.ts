import type { CodeSpace, KeptRule, RuleKeeper } from './code-space.ts';
import type { UnwindModule } from './unwind-module.ts';
import type { UnwoundStack } from './unwound-stack.ts';

/** As many as libunwind 1.6 keeps of a process. */
const MAX_RULES = 128;
/** A power of two. */
const CHAINS = 256;

/**
 * The rules that libunwind keeps of a process, by the addresses of frames, to compare with tools that use it: it takes them also after other code was mapped
 * there, or where it would not find them any more.
 */
export class KeptRules implements RuleKeeper {
  /** By place: the address of the frame, that of its code, and where the rule is. */
  readonly #addresses = new Float64Array(MAX_RULES);
  readonly #codeAddresses = new Float64Array(MAX_RULES);
  readonly #svmas = new Float64Array(MAX_RULES);
  readonly #modules: UnwindModule[] = [];
  /** By place: the next one whose address ends in the same bits; −1 where there is none. */
  readonly #next = new Int16Array(MAX_RULES);
  /** By those bits: the first one. */
  readonly #first = new Int16Array(CHAINS).fill(-1);
  /** Where the next one is put: where the oldest is, once all places are taken. */
  #place = 0;
  #generation: number | undefined;
  #differs = false;

  of(address: number, isCall: boolean, space: CodeSpace): KeptRule | undefined {
    const known = this.#find(address);
    const place = known >= 0 ? known : this.#keep(address, isCall ? address - 1 : address, space, true);
    if (place < 0) return undefined;
    const [module, svma] = [this.#modules[place], this.#svmas[place]];
    return module.ruleAt(svma) < 0 ? undefined : { module, svma };
  }

  /** Keeps those of a stack's frames. Whether there are any is looked up when one is needed: for most frames, never. */
  add({ addresses, isCall, count }: UnwoundStack, space: CodeSpace): void {
    for (let frame = 0; frame < count; frame++) {
      // hot
      const address = addresses[frame];
      if (this.#find(address) < 0) this.#keep(address, address - isCall[frame], space, false);
    }
  }

  /** The place of an address's rule; −1 where none is kept. */
  #find(address: number): number {
    let place = this.#first[address & (CHAINS - 1)];
    while (place >= 0 && this.#addresses[place] !== address) place = this.#next[place];
    return place;
  }

  /**
   * Keeps where the rule is that is found, in place of the oldest one.
   * @param needsRule false: also where there may be none
   * @returns its place; −1 where none is found
   */
  #keep(address: number, codeAddress: number, space: CodeSpace, needsRule: boolean): number {
    if (space.find(codeAddress) !== 'found' || space.module === undefined) return -1;
    const { module, bias } = space;
    if (needsRule && module.ruleAt(codeAddress - bias) < 0) return -1;
    const place = this.#place;
    this.#place = (place + 1) % MAX_RULES;
    if (place < this.#modules.length) this.#unlink(place);
    this.#addresses[place] = address;
    this.#codeAddresses[place] = codeAddress;
    this.#svmas[place] = codeAddress - bias;
    this.#modules[place] = module;
    const chain = address & (CHAINS - 1);
    this.#next[place] = this.#first[chain];
    this.#first[chain] = place;
    return place;
  }

  #unlink(place: number): void {
    const chain = this.#addresses[place] & (CHAINS - 1);
    if (this.#first[chain] === place) {
      this.#first[chain] = this.#next[place];
      return;
    }
    let before = this.#first[chain];
    while (this.#next[before] !== place) before = this.#next[before];
    this.#next[before] = this.#next[place];
  }

  /** Whether any is not what is mapped at its address: only then stacks may be other ones by them. */
  differFrom(space: CodeSpace): boolean {
    const { generation } = space;
    if (generation === undefined || generation !== this.#generation) {
      this.#generation = generation;
      this.#differs = this.#modules.some((module, place) => {
        const codeAddress = this.#codeAddresses[place];
        return space.find(codeAddress) !== 'found' || space.module !== module || codeAddress - space.bias !== this.#svmas[place];
      });
    }
    return this.#differs;
  }
}
