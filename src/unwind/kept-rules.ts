import type { CodeSpace, KeptRule, RuleKeeper } from './code-space.ts';
import type { UnwoundStack } from './unwound-stack.ts';

/** As many as libunwind 1.6 keeps of a process. */
const MAX_RULES = 128;

/**
 * The rules that libunwind keeps of a process, by the addresses of frames, to compare with tools that use it: it takes them also after other code was mapped
 * there, or where it would not find them any more.
 */
export class KeptRules implements RuleKeeper {
  /** In the order in which they were added. */
  readonly #rules = new Map<number, KeptRule & { readonly codeAddress: number }>();
  #generation: number | undefined;
  #differs = false;

  of(address: number, isCall: boolean, space: CodeSpace): KeptRule | undefined {
    const rule = this.#rules.get(address) ?? this.#keep(address, isCall ? address - 1 : address, space, true);
    return rule === undefined || rule.module.ruleAt(rule.svma) < 0 ? undefined : rule;
  }

  /** Keeps those of a stack's frames. Whether there are any is looked up when one is needed: for most frames, never. */
  add({ addresses, isCall, count }: UnwoundStack, space: CodeSpace): void {
    for (let frame = 0; frame < count; frame++) {
      // hot
      const address = addresses[frame];
      if (!this.#rules.has(address)) this.#keep(address, address - isCall[frame], space, false);
    }
  }

  /**
   * Keeps where the rule is that is found, in place of the oldest one.
   * @param needsRule false: also where there may be none
   */
  #keep(address: number, codeAddress: number, space: CodeSpace, needsRule: boolean): KeptRule | undefined {
    if (space.find(codeAddress) !== 'found' || space.module === undefined) return undefined;
    const rule = { module: space.module, svma: codeAddress - space.bias, codeAddress };
    if (needsRule && rule.module.ruleAt(rule.svma) < 0) return undefined;
    if (this.#rules.size === MAX_RULES) {
      const [oldest] = this.#rules.keys();
      this.#rules.delete(oldest);
    }
    this.#rules.set(address, rule);
    return rule;
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
