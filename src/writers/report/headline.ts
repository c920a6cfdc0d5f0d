import type { ProfileEvent } from '../../profile/profile.ts';
import type { TextLine } from '../tables/table.ts';
import { wholeNumber } from '../whole-number.ts';

type UnitSums = Pick<ProfileEvent, 'unit' | 'samples' | 'period' | 'periodRemainder'>;

/** `306 samples, period 153000000 ns` */
export function totalsText({ unit, samples, period, periodRemainder }: UnitSums): string {
  return `${samples} ${samples === 1 ? 'sample' : 'samples'}, period ${wholeNumber(period, periodRemainder)}${unit === 'nanoseconds' ? ' ns' : ''}`;
}

/** An event and its totals: `cpu-clock: 306 samples, period 153000000 ns`. */
export function headline(event: ProfileEvent): TextLine {
  return [{ name: event.name }, `: ${totalsText(event)}`];
}
