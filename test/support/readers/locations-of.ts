import type { StackTable } from '../../../src/profile/stack-table.ts';

/** The locations of a stack, leaf first; none for stack −1. */
export function locationsOf(stacks: StackTable, stack: number): number[] {
  const locations: number[] = [];
  for (let at = stack; at >= 0; at = stacks.parent(at)) locations.push(stacks.location(at));
  return locations;
}
