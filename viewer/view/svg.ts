import { isRightToLeft } from '../model/direction.ts';
import { filterFact } from '../model/facts.ts';
import { layOut, nodeOf, type Row } from '../model/layout.ts';
import { ROOT } from '../model/recording.ts';
import { percentText } from '../model/units.ts';
import { boxName, boxTexts } from './box-texts.ts';
import { legendOf } from './legend.ts';
import { boxText, drawnWidth, FONT_FAMILY, FONT_PX, type GraphColors, lookOf, PADDING, ROW_HEIGHT, SMALLEST_PX } from './look.ts';
import type { State } from './state.ts';

const MARGIN = 12;
/** The lines above the graph, by their baselines, and where the graph begins. */
const TITLE_Y = 24;
const FACTS_Y = 44;
const LEGEND_Y = 64;
const GRAPH_Y = 78;
const SWATCH = 10;
/** Of the distance between a row's upper edge and the baseline of its text. */
const BASELINE = 14;
/** More of a name is in no tooltip. */
const MAX_NAME = 500;
/** More of a title or a fact does not fit into a line anyway. */
const MAX_FACT = 200;

/**
 * The graph as it is shown, and all of its rows, as a picture that needs nothing else: SVG with the name, place and numbers of each box as its tooltip.
 *
 * @param width of the graph in pixels
 * @param measure the width of a text in the graph's font
 */
export function* svgText(state: State, colors: GraphColors, width: number, measure: (text: string) => number): Generator<string> {
  const { graph, zoomed } = state;
  const rows = layOut(graph, zoomed, SMALLEST_PX / width);
  const zoomedRow = rows.findIndex(({ nodes }) => nodes[0] === zoomed);
  const [fullWidth, fullHeight] = [width + 2 * MARGIN, GRAPH_Y + rows.length * ROW_HEIGHT + MARGIN];
  const name = escaped(state.recording.name.slice(0, MAX_FACT));
  yield `<svg xmlns="http://www.w3.org/2000/svg" width="${fullWidth}" height="${fullHeight}" viewBox="0 0 ${fullWidth} ${fullHeight}"`;
  yield ` font-family="${FONT_FAMILY}" font-size="${FONT_PX}" fill="${colors.text}" xml:space="preserve">\n<title>${name}</title>\n`;
  yield `<rect width="100%" height="100%" fill="${colors.page}"/>\n`;
  yield `<text x="${MARGIN}" y="${TITLE_Y}" font-size="15" font-weight="600">${name}</text>\n`;
  yield `<text x="${MARGIN}" y="${FACTS_Y}">${escaped(factsOf(state))}</text>\n`;
  yield* legend(state, colors, measure);
  yield `<g transform="translate(${MARGIN} ${GRAPH_Y})">\n`;
  const drawing = { state, colors, width, measure };
  for (const [depth, row] of rows.entries()) yield* boxesOf(drawing, row, { y: depth * ROW_HEIGHT, isAbove: depth < zoomedRow });
  yield '</g>\n</svg>\n';
}

/** What is shown: `cpu-clock: 153 ms`, `part of the recording (pid 12)`, `callers below`, `“sort”: 12.3% match`. */
function factsOf(state: State): string {
  const { compared, comparison, direction, matched, matches, recording, searched, selection, unit, whole } = state;
  const facts = [
    `${recording.events[selection.event].name.slice(0, MAX_FACT)}: ${unit === 'samples' ? state.namedWeightText(whole) : state.weightText(whole)}`,
  ];
  if (recording.filter !== '') facts.push(filterFact(recording.filter.slice(0, MAX_FACT), recording.inputs.length));
  if (comparison !== undefined) facts.push(`${boxName(state, ROOT).slice(0, MAX_FACT)} compared with ${recording.inputs[compared].slice(0, MAX_FACT)}`);
  if (direction === 'callers') facts.push('callers below');
  if (matches !== undefined) facts.push(`\u201c${searched.trim().slice(0, MAX_FACT)}\u201d: ${percentText(matched, whole)} match`);
  return facts.join(' \u00b7 ');
}

function* legend(state: State, colors: GraphColors, measure: (text: string) => number): Generator<string> {
  let x = MARGIN;
  for (const { color, label, share } of legendOf(state, colors)) {
    const text = `${label.slice(0, MAX_FACT)} ${share}`.trimEnd();
    yield `<rect x="${x}" y="${LEGEND_Y - SWATCH + 1}" width="${SWATCH}" height="${SWATCH}" rx="2" fill="${color}"/>`;
    yield `<text x="${x + SWATCH + 5}" y="${LEGEND_Y}">${escaped(text)}</text>\n`;
    x += Math.ceil(SWATCH + 5 + measure(text) + 16);
  }
}

/** What is the same for all boxes of a picture. */
interface Drawing {
  readonly state: State;
  readonly colors: GraphColors;
  /** Of the graph. */
  readonly width: number;
  readonly measure: (text: string) => number;
}

/** @param place of the row: its upper edge, and whether it is above the zoomed box */
function* boxesOf({ colors, measure, state, width: fullWidth }: Drawing, row: Row, { isAbove, y }: { y: number; isAbove: boolean }): Generator<string> {
  const { left, nodes, right } = row;
  for (const [at, node] of nodes.entries()) {
    const x = left[at] * fullWidth;
    const width = drawnWidth((right[at] - left[at]) * fullWidth);
    const { fill, fillOpacity, ink, inkOpacity, isChosen } = lookOf(state, colors, node, isAbove);
    const { name, numbers, place } = boxTexts(state, nodeOf(state.graph, row, at));
    const lines = [name.slice(0, MAX_NAME), place.slice(0, MAX_NAME), numbers].filter((line) => line !== '');
    yield `<g><title>${escaped(lines.join('\n'))}</title>`;
    yield `<rect x="${rounded(x)}" y="${y}" width="${rounded(width)}" height="${ROW_HEIGHT - 1}" fill="${fill}"${opacity('fill-opacity', fillOpacity)}/>`;
    if (isChosen) yield `<rect x="${rounded(x)}" y="${y + ROW_HEIGHT - 3}" width="${rounded(width)}" height="2" fill="${colors.outline}"/>`;
    const text = boxText(state, node, width, measure);
    if (text !== '') yield textElement(text, x + PADDING, y + BASELINE, measure(text), `${inkOf(ink, colors)}${opacity('fill-opacity', inkOpacity)}`);
    yield '</g>\n';
  }
}

/** A text as wide as it was measured, so that it stays in its box where the font is another one. */
function textElement(text: string, x: number, y: number, width: number, attributes: string): string {
  const direction = isRightToLeft(text) ? ' direction="rtl" text-anchor="end"' : '';
  return `<text x="${rounded(x)}" y="${y}" textLength="${rounded(width)}" lengthAdjust="spacingAndGlyphs"${attributes}${direction}>${escaped(text)}</text>`;
}

function inkOf(ink: string, colors: GraphColors): string {
  return ink === colors.text ? '' : ` fill="${ink}"`;
}

function opacity(attribute: string, value: number): string {
  return value === 1 ? '' : ` ${attribute}="${value}"`;
}

function rounded(pixels: number): string {
  return String(Math.round(pixels * 100) / 100);
}

/** Text in XML 1.0, which has no characters for some code points, not even escaped ones. Source: its production 2, "Char". */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
