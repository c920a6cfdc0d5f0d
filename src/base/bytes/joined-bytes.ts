import { allocated } from '../tables/growable.ts';

/** Joins bytes that come in parts, such as many megabytes of debug information; if there is only one, it is that part itself. */
export function joinedBytes(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0];
  const whole = allocated(
    Uint8Array,
    parts.reduce((sum, { length }) => sum + length, 0),
  );
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
