import { closed } from './direction.ts';
import { type CodeFunction, type Recording, ROOT, type ThreadTotals } from './recording.ts';
import { processLabel, threadLabel } from './selection.ts';

/** What stands above the stacks: nothing, the names of processes, processes, threads, or recordings. */
export const GROUPINGS = ['none', 'name', 'process', 'thread', 'input'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/**
 * The same recording with stacks below what they are grouped by, as if that had called them. Its functions are those of the recording, under the same indexes,
 * and one for each group.
 */
export function groupStacks(recording: Recording, grouping: Grouping): Recording {
  if (grouping === 'none') return recording;
  const groups = new Map<string, ThreadTotals[]>();
  for (const totals of recording.totals) {
    const label = groupOf(recording, totals.thread, grouping);
    const group = groups.get(label);
    if (group === undefined) groups.set(label, [totals]);
    else group.push(totals);
  }
  const groupOfNode = new Int32Array(recording.caller.length).fill(-1);
  const parts = Array.from(groups.values(), (members, group) => ({ members, nodes: nodesOf(recording, members, groupOfNode, group) }));
  const size = parts.reduce((sum, { nodes }) => sum + nodes.length, parts.length);
  const functions = [...recording.functions, ...Array.from(groups.keys(), groupFunction)];
  const [caller, code] = [new Int32Array(size), new Uint32Array(size)];
  const totals: ThreadTotals[] = [];
  /** By node of the recording: the node it has become in the group that it was last met in. */
  const placed = new Int32Array(recording.caller.length);
  let next = 0;
  for (const [group, { members, nodes }] of parts.entries()) {
    const root = next++;
    caller[root] = ROOT;
    code[root] = 2 * (recording.functions.length + group);
    // hot
    for (const node of nodes) {
      const above = recording.caller[node];
      caller[next] = above === ROOT ? root : placed[above];
      code[next] = recording.code[node];
      placed[node] = next++;
    }
    for (const one of members) totals.push({ ...one, node: one.node.map((node) => placed[node]) });
  }
  return { ...recording, functions, caller, code, totals };
}

/** How stacks are grouped at first: by recordings if that was asked for, by the names of processes if there are several. */
export function defaultGrouping({ byInput, inputs, processes, threads, totals }: Recording): Grouping {
  if (byInput && inputs.length > 1) return 'input';
  return new Set(totals.map(({ thread }) => processes[threads[thread].process].name)).size > 1 ? 'name' : 'none';
}

function groupOf(recording: Recording, thread: number, grouping: Grouping): string {
  const { process } = recording.threads[thread];
  if (grouping === 'name') return recording.processes[process].name;
  const { input } = recording.processes[process];
  if (grouping === 'input') return recording.inputs[input] ?? recording.name;
  const label = grouping === 'process' ? processLabel(recording, process) : threadLabel(recording, thread);
  return recording.inputs.length > 1 ? `${closed(recording.inputs[input])}: ${label}` : label;
}

/** The nodes of some samples and all of their callers, in ascending order. @param groupOfNode notes in which group a node was last met */
function nodesOf({ caller }: Recording, members: readonly ThreadTotals[], groupOfNode: Int32Array, group: number): Uint32Array {
  const found: number[] = [];
  // hot
  for (const { node } of members) {
    for (const leaf of node) {
      for (let at = leaf; at !== ROOT && groupOfNode[at] !== group; at = caller[at]) {
        groupOfNode[at] = group;
        found.push(at);
      }
    }
  }
  return Uint32Array.from(found).sort();
}

function groupFunction(label: string): CodeFunction {
  return { name: label, fullName: label, place: '', binary: '', kind: 'group' };
}
