import type { CodeBytes } from './code-bytes.ts';
import type { FrameView } from './frame.ts';
import type { ProcessMemory } from './process-memory.ts';
import type { ReturnAddresses } from './return-addresses.ts';
import type { Shortfall } from './shortfall.ts';
import type { StackEnds } from './stack-ends.ts';

/** What all steps without a rule work with: the frame that is left, and what tells return addresses and ends of stacks from other words. */
export interface GuessContext {
  readonly frame: FrameView;
  readonly memory: ProcessMemory;
  readonly shortfall: Shortfall;
  readonly code: CodeBytes;
  readonly returns: ReturnAddresses;
  readonly stackEnds: StackEnds;
}
