const UNITS = [
  ['s', 1e9],
  ['ms', 1e6],
  ['µs', 1e3],
] as const;

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** What a weight counts. */
export type WeightUnit = 'nanoseconds' | 'count' | 'samples';

/** `1.23 s`, `45.6 ms`; `12,345` for counts. */
export function weightText(weight: number, unit: WeightUnit): string {
  return unit === 'nanoseconds' ? timeText(weight) : grouped.format(weight);
}

/** The same with the name of what is counted: `12,345 cycles`, `1 sample`. */
export function namedWeightText(weight: number, unit: WeightUnit, event: string): string {
  if (unit === 'nanoseconds') return timeText(weight);
  return `${grouped.format(weight)} ${unit === 'count' ? event : weight === 1 ? 'sample' : 'samples'}`;
}

/** Three digits, and a unit in which they are not all after the point. */
export function timeText(ns: number): string {
  if (ns === 0) return '0';
  for (const [name, length] of UNITS) {
    // 999.7 µs is written as 1.00 ms.
    if (ns >= length * 0.9995) return `${threeDigits(ns / length)} ${name}`;
  }
  return `${grouped.format(ns)} ns`;
}

function threeDigits(value: number): string {
  if (value >= 999.5) return grouped.format(value);
  return value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

/** `12.3%`; `<0.01%` for what is little, but not nothing. */
export function percentText(part: number, whole: number): string {
  if (whole <= 0 || part <= 0) return '0%';
  const percent = (100 * part) / whole;
  if (percent < 0.01) return '<0.01%';
  if (percent > 99.9 && percent < 100) return '>99.9%';
  return `${percent.toFixed(percent >= 100 ? 0 : percent >= 9.995 ? 1 : 2)}%`;
}
