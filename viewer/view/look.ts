import type { Category } from '../model/categories.ts';
import { closed } from '../model/direction.ts';
import { type CodeFunction, functionOf, isInlined, ROOT } from '../model/recording.ts';
import { isRest, REST } from '../model/rest-graph.ts';
import { boxName } from './box-texts.ts';
import { Fitter } from './fit.ts';
import type { State } from './state.ts';

/** Height of a row in pixels, with the gap below it. */
export const ROW_HEIGHT = 20;
/** Boxes narrower than this many pixels are drawn as one. */
export const SMALLEST_PX = 0.8;
export const FONT_PX = 12;
export const FONT_FAMILY = 'system-ui, sans-serif';
/** Between a box's left edge and its text. */
export const PADDING = 4;
/** Narrower boxes have no text. */
const MIN_TEXT_WIDTH = 22;
/** Of boxes that are callers of the zoomed one, or that do not match. */
const FAINT = 0.4;

/** The colors of a light or a dark graph, as `#rrggbb`. */
export interface GraphColors {
  readonly text: string;
  readonly page: string;
  readonly outline: string;
  /** Of boxes that stand for the root and for what is too small. */
  readonly plain: string;
  readonly match: { readonly fill: string; readonly text: string };
  /** Of a function, called or inlined. */
  fill(one: CodeFunction, inlined: boolean): string;
  /** Of a box whose share has changed, from −1 (gone) to 1 (new): blue over gray to red. */
  change(relative: number): string;
  /** Of a category in the legend. */
  category(category: Category): string;
}

/** How a box looks, on the page and in pictures. */
export interface Look {
  readonly fill: string;
  readonly fillOpacity: number;
  readonly ink: string;
  readonly inkOpacity: number;
  /** Whether it is of the chosen function: it is underlined. */
  readonly isChosen: boolean;
}

/** @param isAbove whether the box is a caller of the zoomed one */
export function lookOf(state: State, colors: GraphColors, node: number, isAbove: boolean): Look {
  const { chosen, graph, matches } = state;
  const isPlain = node === ROOT || isRest(node);
  const index = isPlain ? -1 : functionOf(graph.code(node));
  const isMatch = !isPlain && matches?.[index] === 1;
  const isFaint = isAbove || (matches !== undefined && !isMatch && node !== ROOT);
  return {
    fill: isPlain ? colors.plain : isMatch ? colors.match.fill : fillOf(state, colors, node),
    fillOpacity: isFaint || node === REST ? FAINT : 1,
    ink: isMatch ? colors.match.text : colors.text,
    inkOpacity: isAbove ? 0.75 : 1,
    isChosen: !isPlain && index === chosen,
  };
}

function fillOf(state: State, colors: GraphColors, node: number): string {
  if (state.comparison !== undefined) return colors.change(state.changeOf(node));
  const code = state.graph.code(node);
  return colors.fill(state.recording.functions[functionOf(code)], isInlined(code));
}

/** How wide a box is drawn that has so much room: with a gap to the next one if it is wide enough for that. */
export function drawnWidth(width: number): number {
  return width > 3 ? width - 1 : width;
}

const fitter = new Fitter();

/** The text of a box, cut to its width; empty if there is no room for any. @param measure the width of a text */
export function boxText(state: State, node: number, width: number, measure: (text: string) => number): string {
  if (width < MIN_TEXT_WIDTH) return '';
  const name = boxName(state, node);
  const label = node === ROOT ? `${closed(name)}: ${state.namedWeightText(state.graph.weight(ROOT))}` : name;
  return fitter.fit(label, width - 2 * PADDING, measure);
}
