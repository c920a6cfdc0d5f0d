import type { CodeSpace } from './code-space.ts';
import type { UnwindModule } from './unwind-module.ts';
import type { UnwoundStack } from './unwound-stack.ts';

/** Where the rule is by which a frame was left. */
export interface KeptRule {
  readonly module: UnwindModule;
  readonly svma: number;
  /** What {@link svma} was in the process. */
  readonly codeAddress: number;
}

/** As many as libunwind 1.6 keeps of a process. */
const MAX_RULES = 128;

/**
 * The rules that libunwind keeps of a process, by the addresses of frames, to compare with tools that use it: it takes them also after other code was mapped
 * there, or where it would not find them any more.
 */
export class KeptRules {
  /** In the order in which they were added. */
  readonly #rules = new Map<number, KeptRule>();
  #generation: number | undefined;
  #differs = false;

  /** The one by which a frame at an address is left: if none is kept, that which is found, and is kept from then on. */
  of(address: number, isCall: boolean, space: CodeSpace): KeptRule | undefined {
    return this.#rules.get(address) ?? this.#keep(address, isCall ? address - 1 : address, space);
  }

  /** Keeps those of a stack's frames. */
  add({ addresses, isCall, count }: UnwoundStack, space: CodeSpace): void {
    for (let frame = 0; frame < count; frame++) {
      // hot
      const address = addresses[frame];
      if (!this.#rules.has(address)) this.#keep(address, address - isCall[frame], space);
    }
  }

  #keep(address: number, codeAddress: number, space: CodeSpace): KeptRule | undefined {
    if (space.find(codeAddress) !== 'found' || space.module === undefined) return undefined;
    const rule = { module: space.module, svma: codeAddress - space.bias, codeAddress };
    if (rule.module.ruleAt(rule.svma) < 0) return undefined;
    this.#rules.set(address, rule);
    if (this.#rules.size > MAX_RULES) this.#removeOldest();
    return rule;
  }

  #removeOldest(): void {
    for (const address of this.#rules.keys()) {
      this.#rules.delete(address);
      return;
    }
  }

  /** Whether any is not what is mapped at its address: only then stacks may be other ones by them. */
  differFrom(space: CodeSpace): boolean {
    const { generation } = space;
    if (generation === undefined || generation !== this.#generation) {
      this.#generation = generation;
      this.#differs = [...this.#rules.values()].some(
        ({ module, svma, codeAddress }) => space.find(codeAddress) !== 'found' || space.module !== module || codeAddress - space.bias !== svma,
      );
    }
    return this.#differs;
  }
}
