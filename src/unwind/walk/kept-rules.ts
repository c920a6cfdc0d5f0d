import type { UnwoundStack } from '../frames/unwound-stack.ts';
import type { CodeSpace, KeptRule, RuleKeeper } from '../modules/code-space.ts';

/** How many libunwind 1.6 keeps of a process. */
const MAX_RULES = 128;

/** What is kept for an address. */
interface KeptPlace extends KeptRule {
  /** Where the rule was looked up: at the address, or just before it. */
  readonly codeAddress: number;
}

/**
 * The rules that libunwind keeps of a process by address of the frame, to compare with tools that use it. It still applies them after other code was mapped
 * there, or when it would not find them any more.
 */
export class KeptRules implements RuleKeeper {
  /** In the order in which they were added. */
  readonly #rules = new Map<number, KeptPlace>();
  #generation: number | undefined;
  #differs = false;

  of(address: number, isCall: boolean, space: CodeSpace): KeptRule | undefined {
    const rule = this.#rules.get(address) ?? this.#keep(address, isCall ? address - 1 : address, space, true);
    return rule === undefined || rule.module.ruleAt(rule.svma) < 0 ? undefined : rule;
  }

  /**
   * Keeps the rules of a stack's frames, up to the first frame for which another one is kept: an address may be sampled, and also be returned to after a call
   * that ends the function before it. Whether there are rules is looked up when one is needed: for most frames, never.
   * @returns whether there was such a frame, so that the kept rules make it another stack
   */
  add({ addresses, isCall, count }: UnwoundStack, space: CodeSpace): boolean {
    for (let frame = 0; frame < count; frame++) {
      // hot
      const address = addresses[frame];
      const codeAddress = address - isCall[frame];
      const kept = this.#rules.get(address);
      if (kept === undefined) this.#keep(address, codeAddress, space, false);
      else if (kept.codeAddress !== codeAddress && isOther(kept, codeAddress, space)) return true;
    }
    return false;
  }

  /**
   * Keeps where the rule is found, in place of the oldest one if there is no room.
   * @param needsRule false: even if there may be none
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

  /** Whether any kept rule is not that of what is mapped at its address: only then can they change stacks. */
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

/** Whether a kept place has a rule, and that is not the one of the code at an address. */
function isOther({ module, svma }: KeptPlace, codeAddress: number, space: CodeSpace): boolean {
  const rule = module.ruleAt(svma);
  return rule >= 0 && space.find(codeAddress) === 'found' && space.module?.ruleAt(codeAddress - space.bias) !== rule;
}
