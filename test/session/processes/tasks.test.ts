import { describe, expect, it } from 'vitest';
import type { AddressSpace } from '../../../src/session/processes/address-space.ts';
import { TaskTable } from '../../../src/session/processes/tasks.ts';

const fork = (pid: number, ppid: number) => ({ pid, ppid, tid: pid, ptid: ppid, isSynthesized: false, timeLo: 0, timeHi: 0 });
const exec = (pid: number) => ({ pid, tid: pid, comm: 'next', isExec: true });

function heapBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The largest number of spaces in which an address is looked up. */
function depthOf(space: AddressSpace | undefined): number {
  return space === undefined ? 0 : 1 + depthOf(space.fallback);
}

describe('TaskTable', () => {
  it('keeps the first name of a thread for what it did before, and no later one', () => {
    const tasks = new TaskTable(false);
    const taskOf = (tid: number) => tasks.tasks[tasks.taskOf(tasks.thread(7, tid))];
    const name = (tid: number, comm: string) => tasks.rename({ pid: 7, tid, comm, isExec: false });
    const before = tasks.taskOf(tasks.thread(7, 8));
    expect(tasks.tasks[before].comm).toBe(':8');
    name(8, 'first');
    expect([tasks.tasks[before], taskOf(8)]).toEqual([
      { thread: tasks.thread(7, 8), comm: ':8', laterComm: 'first' },
      { thread: tasks.thread(7, 8), comm: 'first' },
    ]);
    name(8, 'second');
    expect([tasks.tasks[before].laterComm, taskOf(8).comm]).toEqual(['first', 'second']);
    // Nothing was sampled here before.
    name(9, 'other');
    expect(taskOf(9)).toEqual({ thread: tasks.thread(7, 9), comm: 'other' });
  });

  it('has one thread for those of a process that have ended, which the kernel numbers -1 in every process', () => {
    const tasks = new TaskTable(false);
    const first = tasks.thread(7, -1);
    const second = tasks.thread(8, -1);
    expect([tasks.thread(7, -1), tasks.thread(8, -1), tasks.thread(-1, -1)]).toEqual([first, second, 2]);
    expect(tasks.threads.map(({ pid, tid, comm }) => [pid, tid, comm])).toEqual([
      [7, -1, ':-1'],
      [8, -1, ':-1'],
      [-1, -1, ':-1'],
    ]);
    expect([tasks.has(7, -1), tasks.has(9, -1)]).toEqual([true, false]);
    // Another process gets the number 7: its threads are others.
    tasks.fork(fork(7, 1), 0);
    const later = tasks.thread(7, -1);
    expect(tasks.threads[later].process).toBe(tasks.process(7));
    expect(tasks.threads[first].process).not.toBe(tasks.process(7));
  });

  it('takes memory for the maps that children add, not for those of their parent', () => {
    const tasks = new TaskTable(false);
    const parent = tasks.ownSpace(tasks.process(1));
    for (let i = 0; i < 10_000; i++) parent.map(i * 0x2000, i * 0x2000 + 0x1000, 0, 1);
    const before = heapBytes();
    for (let i = 0; i < 4000; i++) {
      tasks.fork(fork(100 + i, 1), 0);
      tasks.ownSpace(tasks.process(100 + i)).map(i * 0x2000 + 0x1000, i * 0x2000 + 0x2000, 0, 2);
    }
    // With a copy of the parent's maps for each child, this would be 1.1 GB.
    expect(heapBytes() - before).toBeLessThan(150e6);
    const last = tasks.processes[tasks.process(4099)].space;
    const dsos = [0x0, 3999 * 0x2000 + 0x1000, 0x1000].map((address) => (last.find(address) < 0 ? -1 : last.dsoAt(last.find(address))));
    expect(dsos).toEqual([1, 2, -1]);
  });

  it('takes memory for the JIT code that children add, not for that of their parent', () => {
    const tasks = new TaskTable(false);
    for (let i = 0; i < 10_000; i++) tasks.ownSpace(tasks.process(1)).putCode(i * 0x2000, i * 0x2000 + 0x800, 0, 1);
    const before = heapBytes();
    for (let i = 0; i < 4000; i++) {
      tasks.fork(fork(100 + i, 1), 0);
      tasks.ownSpace(tasks.process(100 + i)).putCode(0x1000, 0x1100, 0, 2);
    }
    expect(heapBytes() - before).toBeLessThan(150e6);
  });

  it.each([true, false])('looks addresses up in at most two spaces, however often a process runs another program (maps kept: %s)', (keepsMapsAtExec) => {
    const tasks = new TaskTable(keepsMapsAtExec);
    const process = tasks.process(7);
    for (let i = 1; i <= 100; i++) {
      tasks.rename(exec(7));
      tasks.ownSpace(process).map(i * 0x1000, i * 0x1000 + 0x1000, 0, i);
      if (i % 3 === 0) tasks.fork(fork(100 + i, 7), 0);
    }
    const { space } = tasks.processes[process];
    expect(depthOf(space)).toBe(keepsMapsAtExec ? 1 : 2);
    expect([1, 99, 100].map((i) => space.rangeAt(i * 0x1000)?.dso)).toEqual(keepsMapsAtExec ? [1, 99, 100] : [undefined, undefined, 100]);
    tasks.finishExec(process);
    expect(depthOf(tasks.processes[process].space)).toBe(1);
  });
});
