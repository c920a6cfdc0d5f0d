import { type CodeFunction, functionOf, isInlined, type Recording, ROOT } from './recording.ts';

/** What colors tell apart, in the order of the legend. */
export const CATEGORIES = [
  { id: 'user', label: 'User code' },
  { id: 'inlined', label: 'Inlined' },
  { id: 'jit', label: 'JIT' },
  { id: 'kernel', label: 'Kernel' },
  { id: 'unknown', label: 'Unknown' },
  { id: 'mark', label: 'Incomplete stacks' },
  { id: 'group', label: 'Processes and threads' },
] as const;

export type Category = (typeof CATEGORIES)[number]['id'];

/** Inlined functions of kernels stay with the kernel: what ran there matters more than how it was compiled. */
export function categoryOf({ kind }: CodeFunction, inlined: boolean): Category {
  return inlined && (kind === 'user' || kind === 'jit') ? 'inlined' : kind;
}

/**
 * By category: the weight of the samples whose leaf is such code. Marks are no code: for them, that of the samples with a mark anywhere in their stack.
 * @param self by node
 */
export function categoryWeights({ caller, code, functions }: Recording, self: Float64Array): ReadonlyMap<Category, number> {
  const weights = new Map<Category, number>();
  const add = (category: Category, weight: number): void => {
    if (weight > 0) weights.set(category, (weights.get(category) ?? 0) + weight);
  };
  const isMarked = new Uint8Array(self.length);
  for (let node = 0; node < self.length; node++) {
    const category = categoryOf(functions[functionOf(code[node])], isInlined(code[node]));
    if (category === 'mark' || (caller[node] !== ROOT && isMarked[caller[node]] === 1)) isMarked[node] = 1;
    if (isMarked[node] === 1) add('mark', self[node]);
    if (category !== 'mark' && category !== 'group') add(category, self[node]);
  }
  return weights;
}
