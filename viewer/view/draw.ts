import { isRightToLeft } from '../model/direction.ts';
import type { Row } from '../model/layout.ts';
import { boxText, drawnWidth, FONT_FAMILY, FONT_PX, type GraphColors, type Look, lookOf, PADDING, ROW_HEIGHT } from './look.ts';
import type { State } from './state.ts';

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
export function drawGraph(context: CanvasRenderingContext2D, state: State, colors: GraphColors, picture: Picture): void {
  const { height, rows, top, width } = picture;
  context.globalAlpha = 1;
  context.fillStyle = colors.page;
  context.fillRect(0, 0, width, height);
  context.font = `${FONT_PX}px ${FONT_FAMILY}`;
  context.textBaseline = 'middle';
  // Whatever the direction of the name.
  context.textAlign = 'left';
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW_HEIGHT));
  for (let row = Math.floor(top / ROW_HEIGHT); row < last; row++) drawRow(context, state, colors, picture, row);
  context.globalAlpha = 1;
  context.strokeStyle = colors.outline;
  outline(context, picture, picture.hovered, 1.5);
  outline(context, picture, picture.focused, 2.5);
}

function drawRow(context: CanvasRenderingContext2D, state: State, colors: GraphColors, { rows, top, width, zoomedRow }: Picture, row: number): void {
  const { left, nodes, right } = rows[row];
  const y = row * ROW_HEIGHT - top;
  const measure = (text: string): number => context.measureText(text).width;
  // hot
  for (let at = 0; at < nodes.length; at++) {
    const boxWidth = drawnWidth((right[at] - left[at]) * width);
    if (boxWidth < 0.2) continue;
    const x = left[at] * width;
    const look = lookOf(state, colors, nodes[at], row < zoomedRow);
    drawBox(context, look, colors.outline, { x, y, width: boxWidth });
    const text = boxText(state, nodes[at], boxWidth, measure);
    if (text !== '') drawText(context, text, x + PADDING, y);
  }
}

/** Where a box is drawn: its upper left corner and its width. */
interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Draws a box without its text, for which the context is then ready. */
function drawBox(context: CanvasRenderingContext2D, { fill, fillOpacity, ink, inkOpacity, isChosen }: Look, line: string, { width, x, y }: Place): void {
  context.globalAlpha = fillOpacity;
  context.fillStyle = fill;
  context.fillRect(x, y, width, ROW_HEIGHT - 1);
  context.globalAlpha = inkOpacity;
  if (isChosen) {
    context.fillStyle = line;
    context.fillRect(x, y + ROW_HEIGHT - 3, width, 2);
  }
  context.fillStyle = ink;
}

/** Draws a line around a marked box, if there is one. */
function outline(context: CanvasRenderingContext2D, { rows, top, width }: Picture, spot: Spot | undefined, lineWidth: number): void {
  if (spot === undefined || rows[spot.row] === undefined) return;
  const { left, right } = rows[spot.row];
  const [from, to] = [left[spot.at] * width, right[spot.at] * width];
  context.lineWidth = lineWidth;
  context.strokeRect(from + 1, spot.row * ROW_HEIGHT - top + 1, Math.max(1, to - from - 2), ROW_HEIGHT - 3);
}

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
