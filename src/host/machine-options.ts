import type { OpenZstdStream } from '../zstd/stream.ts';
import { availableMemory } from './available-memory.ts';
import { nativeZstd } from './native-zstd.ts';

/** What this machine offers to whatever reads a recording. */
export interface MachineOptions {
  /** Absent where this Node has no zstd: then the library's own decoder is used. */
  readonly openZstd?: OpenZstdStream;
  readonly availableMemory: ReturnType<typeof availableMemory>;
}

export function machineOptions(): MachineOptions {
  const openZstd = nativeZstd();
  return { ...(openZstd && { openZstd }), availableMemory: availableMemory() };
}
