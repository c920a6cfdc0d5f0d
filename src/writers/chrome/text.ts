import { quotedJson } from '../json-text.ts';
import { DEVTOOLS_RESERVED_NAMES } from './devtools-reserved-names.ts';

/** Names that the panel gives a meaning of its own inside of a sampled profile. Observed: Chromium 156. */
const SAMPLED_RESERVED_NAMES: ReadonlySet<string> = new Set(['(root)', '(program)', '(idle)', '(garbage collector)']);

/**
 * A JSON string literal that never shows the word `enhancedTraceVersion`: DevTools looks for it in the text as it
 * comes in, and takes a file that has it anywhere for one of another kind.
 */
export function quotedForChrome(text: string): string {
  return quotedJson(text).replaceAll('enhancedTraceVersion', 'enhancedTrace\\u0056ersion');
}

/** What to call an X event of a function: DevTools' own event names get `()`, as a missing name gets a stand-in. */
export function eventName(functionName: string): string {
  if (functionName === '') return '(unnamed)';
  return DEVTOOLS_RESERVED_NAMES.has(functionName) ? `${functionName}()` : functionName;
}

/** What to call a function in a sampled profile: `(idle)` and its like get `()`, as a missing name gets a stand-in. */
export function sampledName(functionName: string): string {
  if (functionName === '') return '(unnamed)';
  return SAMPLED_RESERVED_NAMES.has(functionName) ? `${functionName}()` : functionName;
}
