import { isRightToLeft } from '../model/direction.ts';
import type { Row } from '../model/layout.ts';
import { boxText, drawnWidth, FONT_FAMILY, FONT_PX, type GraphColors, lookOf, PADDING, ROW_HEIGHT } from './look.ts';
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
  const { focused, height, hovered, rows, top, width, zoomedRow } = picture;
  context.globalAlpha = 1;
  context.fillStyle = colors.page;
  context.fillRect(0, 0, width, height);
  context.font = `${FONT_PX}px ${FONT_FAMILY}`;
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
  colors: GraphColors,
  node: number,
  left: number,
  right: number,
  y: number,
  isAbove: boolean,
): void {
  const width = drawnWidth(right - left);
  if (width < 0.2) return;
  const { fill, fillOpacity, ink, inkOpacity, isChosen } = lookOf(state, colors, node, isAbove);
  context.globalAlpha = fillOpacity;
  context.fillStyle = fill;
  context.fillRect(left, y, width, ROW_HEIGHT - 1);
  context.globalAlpha = inkOpacity;
  if (isChosen) {
    context.fillStyle = colors.outline;
    context.fillRect(left, y + ROW_HEIGHT - 3, width, 2);
  }
  const text = boxText(state, node, width, (one) => context.measureText(one).width);
  if (text === '') return;
  context.fillStyle = ink;
  drawText(context, text, left + PADDING, y);
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
