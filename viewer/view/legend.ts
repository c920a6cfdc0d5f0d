import { CATEGORIES, categoryWeights } from '../model/categories.ts';
import { percentText } from '../model/units.ts';
import type { GraphColors } from './look.ts';
import type { State } from './state.ts';

/** What a color means. */
export interface LegendEntry {
  readonly color: string;
  readonly label: string;
  /** Empty if there is none to tell. */
  readonly share: string;
  readonly title: string;
}

/** Of a share that has changed by half of the larger one. */
const SAMPLE_CHANGE = 0.5;

/** What the colors of the graph mean: kinds of code, or where something is compared, how it has changed. */
export function legendOf(state: State, colors: GraphColors): LegendEntry[] {
  return state.comparison === undefined ? kinds(state, colors) : changes(state, colors);
}

function kinds({ recording, self, whole }: State, colors: GraphColors): LegendEntry[] {
  const weights = categoryWeights(recording, self);
  return CATEGORIES.flatMap(({ id, label }) => {
    const weight = weights.get(id);
    if (weight === undefined) return [];
    const title = id === 'mark' ? 'Share of the samples whose stacks are incomplete' : 'Share of the samples that were in such code';
    return [{ color: colors.category(id), label, share: percentText(weight, whole), title }];
  });
}

function changes({ compared, recording }: State, colors: GraphColors): LegendEntry[] {
  const base = recording.inputs[compared];
  const entry = (label: string, change: number): LegendEntry => ({ color: colors.change(change), label, share: '', title: 'The stronger the color, the more' });
  return [entry(`Larger share than in ${base}`, SAMPLE_CHANGE), entry('The same', 0), entry('Smaller', -SAMPLE_CHANGE)];
}
