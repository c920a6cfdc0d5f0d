import { closed, isRightToLeft } from '../model/direction.ts';
import { REST, type Row } from '../model/layout.ts';
import { functionOf, isInlined, ROOT } from '../model/recording.ts';
import type { Colors } from './colors.ts';
import { Fitter } from './fit.ts';
import { boxName } from './labels.ts';
import type { State } from './state.ts';

/** Height of a row in CSS pixels, with the gap below it. */
export const ROW_HEIGHT = 20;
const FONT = '12px system-ui, sans-serif';
const PADDING = 4;
/** Narrower boxes have no text. */
const MIN_TEXT_WIDTH = 22;
/** Of boxes that are callers of the zoomed one, or that do not match. */
const FAINT = 0.4;

/** A box that is marked: row and place in it. */
export interface Spot {
  readonly row: number;
  readonly at: number;
}

export interface Picture {
  readonly rows: readonly Row[];
  /** Number of rows from the root to the zoomed node. */
  readonly zoomedRow: number;
  /** What can be seen, in CSS pixels. */
  readonly width: number;
  readonly top: number;
  readonly height: number;
  readonly hovered: Spot | undefined;
  readonly focused: Spot | undefined;
}

/** Draws the rows that can be seen. The context's units are CSS pixels. */
export function drawGraph(context: CanvasRenderingContext2D, state: State, colors: Colors, picture: Picture): void {
  const { focused, height, hovered, rows, top, width, zoomedRow } = picture;
  context.globalAlpha = 1;
  context.fillStyle = colors.page;
  context.fillRect(0, 0, width, height);
  context.font = FONT;
  context.textBaseline = 'middle';
  // Whatever the direction of the name.
  context.textAlign = 'left';
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW_HEIGHT));
  for (let row = Math.floor(top / ROW_HEIGHT); row < last; row++) {
    const { left, nodes, right } = rows[row];
    const y = row * ROW_HEIGHT - top;
    // hot
    for (let at = 0; at < nodes.length; at++) drawBox(context, state, colors, nodes[at], left[at] * width, right[at] * width, y, row < zoomedRow);
  }
  context.globalAlpha = 1;
  for (const [spot, line] of [
    [hovered, 1.5],
    [focused, 2.5],
  ] as const) {
    if (spot === undefined || rows[spot.row] === undefined) continue;
    const { left, right } = rows[spot.row];
    context.strokeStyle = colors.outline;
    context.lineWidth = line;
    context.strokeRect(left[spot.at] * width + 1, spot.row * ROW_HEIGHT - top + 1, Math.max(1, (right[spot.at] - left[spot.at]) * width - 2), ROW_HEIGHT - 3);
  }
}

function drawBox(
  context: CanvasRenderingContext2D,
  state: State,
  colors: Colors,
  node: number,
  left: number,
  right: number,
  y: number,
  isAbove: boolean,
): void {
  // A gap between boxes that are wide enough for it.
  const width = right - left > 3 ? right - left - 1 : right - left;
  if (width < 0.2) return;
  const isPlain = node === ROOT || node === REST;
  const code = isPlain ? 0 : state.graph.code(node);
  const index = functionOf(code);
  const isMatch = !isPlain && state.matches?.[index] === 1;
  const isFaint = isAbove || (state.matches !== undefined && !isMatch && node !== ROOT);
  context.globalAlpha = isFaint || node === REST ? FAINT : 1;
  context.fillStyle = isPlain ? colors.plain : isMatch ? colors.match.fill : colors.fill(state.recording.functions[index], isInlined(code));
  context.fillRect(left, y, width, ROW_HEIGHT - 1);
  context.globalAlpha = isAbove ? 0.75 : 1;
  if (!isPlain && index === state.chosen) {
    context.fillStyle = colors.outline;
    context.fillRect(left, y + ROW_HEIGHT - 3, width, 2);
  }
  if (width < MIN_TEXT_WIDTH) return;
  context.fillStyle = isMatch ? colors.match.text : colors.text;
  const label = node === ROOT ? `${closed(boxName(state, node))}: ${state.namedWeightText(state.graph.weight(ROOT))}` : boxName(state, node);
  const text = fitter.fit(label, width - 2 * PADDING, (one) => context.measureText(one).width);
  if (text !== '') drawText(context, text, left + PADDING, y);
}

const fitter = new Fitter();

/** Draws a name in its row. Piled up combining marks (an accent on an accent on an accent) would cover the rows above. */
function drawText(context: CanvasRenderingContext2D, text: string, left: number, y: number): void {
  const mayStandOut = /[^\x20-\x7e]/.test(text);
  if (mayStandOut) {
    context.save();
    context.beginPath();
    context.rect(left - PADDING, y, context.canvas.width, ROW_HEIGHT - 1);
    context.clip();
  }
  if (mayStandOut) context.direction = isRightToLeft(text) ? 'rtl' : 'ltr';
  context.fillText(text, left, y + ROW_HEIGHT / 2);
  if (mayStandOut) context.restore();
}
