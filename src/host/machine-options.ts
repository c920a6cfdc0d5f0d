import { availableMemory } from './available-memory.ts';

/** What this machine offers to whatever reads a recording. */
export interface MachineOptions {
  readonly availableMemory: ReturnType<typeof availableMemory>;
}

export function machineOptions(): MachineOptions {
  return { availableMemory: availableMemory() };
}
