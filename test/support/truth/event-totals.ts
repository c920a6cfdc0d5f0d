/** How much an output has of one event. */
export interface Totals {
  readonly samples: number;
  /** Sum of the samples' periods. */
  readonly period: bigint;
}

/** How much an output has of each event, by name; events of the same name are one. Events without samples are left out. */
export type EventTotals = ReadonlyMap<string, Totals>;

/** One addend: an event's name, samples, and the sum of their periods. */
export type EventCount = readonly [event: string, samples: number, period: bigint];

/** Adds up counts by event. */
export function totalsOf(counts: Iterable<EventCount>): EventTotals {
  const totals = new Map<string, Totals>();
  for (const [event, samples, period] of counts) {
    if (samples === 0) continue;
    const known = totals.get(event);
    totals.set(event, { samples: samples + (known?.samples ?? 0), period: period + (known?.period ?? 0n) });
  }
  return totals;
}

/** The sum of the totals of several outputs. */
export function sumOf(parts: readonly EventTotals[]): EventTotals {
  return totalsOf(parts.flatMap((part) => [...part].map(([event, { samples, period }]): EventCount => [event, samples, period])));
}

/** Totals multiplied by a factor. */
export function timesOf(totals: EventTotals, factor: number): EventTotals {
  return totalsOf([...totals].map(([event, { samples, period }]): EventCount => [event, samples * factor, period * BigInt(factor)]));
}

/** Lines that two outputs can be compared by: `cycles: 12 samples, period 3400`, in the order of the names. */
export function totalsText(totals: EventTotals): string[] {
  return [...totals].map(([event, { samples, period }]) => `${event}: ${samples} samples, period ${period}`).sort();
}
