import { quotedJson } from '../json-text.ts';
import { DEVTOOLS_RESERVED_NAMES } from './devtools-reserved-names.ts';

/** Names with a special meaning in a sampled profile. Observed: Chromium 156. */
const SAMPLED_RESERVED_NAMES: ReadonlySet<string> = new Set(['(root)', '(program)', '(idle)', '(garbage collector)']);

/**
 * A JSON string literal that does not contain the word `enhancedTraceVersion`. DevTools looks for the word in the raw text, and takes a file that contains it
 * anywhere for one of another kind.
 */
export function quotedForChrome(text: string): string {
  return quotedJson(text).replaceAll('enhancedTraceVersion', 'enhancedTrace\\u0056ersion');
}

/** The name of the X event of a function. Names of DevTools' own events get `()`; an empty name is `(unnamed)`. */
export function eventName(functionName: string): string {
  if (functionName === '') return '(unnamed)';
  return DEVTOOLS_RESERVED_NAMES.has(functionName) ? `${functionName}()` : functionName;
}

/**
 * The name of a function in a sampled profile. Reserved ones such as `(idle)` get `()`; an empty name is `(unnamed)`.
 */
export function sampledName(functionName: string): string {
  if (functionName === '') return '(unnamed)';
  return SAMPLED_RESERVED_NAMES.has(functionName) ? `${functionName}()` : functionName;
}
