import type { CodeSpace, KeptRule, RuleKeeper } from './code-space.ts';
import type { UnwoundStack } from './unwound-stack.ts';

/** As many as libunwind 1.6 keeps of a process. */
const MAX_RULES = 128;

/** What is kept of an address. */
interface KeptPlace extends KeptRule {
  /** Where the rule was looked for: at the address, or before it. */
  readonly codeAddress: number;
}

/**
 * The rules that libunwind keeps of a process, by the addresses of frames, to compare with tools that use it: it takes them also after other code was mapped
 * there, or where it would not find them any more.
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
   * Keeps those of a stack's frames, up to the first of which another one is kept: an address may have been sampled, and returned to after a call that is the
   * end of the function before. Whether there are any is looked up when one is needed: for most frames, never.
   * @returns whether there was such a frame, so that the stack is another one by what is kept
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

/** Whether there is a rule in a place that was kept, and it is not that of the code at an address. */
function isOther({ module, svma }: KeptPlace, codeAddress: number, space: CodeSpace): boolean {
  const rule = module.ruleAt(svma);
  return rule >= 0 && space.find(codeAddress) === 'found' && space.module?.ruleAt(codeAddress - space.bias) !== rule;
}
