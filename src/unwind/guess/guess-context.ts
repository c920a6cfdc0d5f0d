import type { FrameView } from '../frames/frame.ts';
import type { Shortfall } from '../frames/shortfall.ts';
import type { CodeBytes } from '../memory/code-bytes.ts';
import type { ProcessMemory } from '../memory/process-memory.ts';
import type { ReturnAddresses } from '../scan/calls/return-addresses.ts';
import type { StackEnds } from '../steps/stack-ends.ts';

/** What all steps without a rule work with: the frame that is left, and what tells return addresses and ends of stacks from other words. */
export interface GuessContext {
  readonly frame: FrameView;
  readonly memory: ProcessMemory;
  readonly shortfall: Shortfall;
  readonly code: CodeBytes;
  readonly returns: ReturnAddresses;
  readonly stackEnds: StackEnds;
}
