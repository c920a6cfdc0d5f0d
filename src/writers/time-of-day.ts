import { SecondsTexts } from './seconds-texts.ts';

/**
 * Prints times in the local time zone as perf script prints its field `tod`: `2026-11-21 11:44:12.473786`. Source of the format: observed, perf 6.1.
 * @param startNs Unix time in nanoseconds of time 0
 */
export function timesOfDay(startNs: bigint): SecondsTexts {
  return new SecondsTexts(startNs, dayAndTime);
}

/** `no date` for a time that a Date cannot hold, which a damaged recording may have. */
function dayAndTime(second: number): string {
  const date = new Date(second * 1000);
  if (Number.isNaN(date.getTime())) return 'no date';
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
