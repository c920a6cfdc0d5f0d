import { describe, expect, test } from 'vitest';
import { functionOf, ROOT } from '../../viewer/model/recording.ts';
import type { GraphColors } from '../../viewer/view/look.ts';
import { State } from '../../viewer/view/state.ts';
import { svgText } from '../../viewer/view/svg.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';
import { pageRecording, recordingOfStacks } from '../support/builders/profiles/page-recording.ts';

const COLORS: GraphColors = {
  text: '#text',
  page: '#page',
  outline: '#outline',
  plain: '#plain',
  match: { fill: '#match', text: '#matched' },
  fill: () => '#fill',
  category: () => '#category',
  change: () => '#change',
};

/** Each character is ten pixels wide. */
const pictureOf = (state: State, width = 1000): string => [...svgText(state, COLORS, width, (text) => 10 * text.length)].join('');

/** Boxes by their tooltips: the left edge, the row, the width, and the text. */
function boxesOf(picture: string): string[] {
  return Array.from(picture.matchAll(/<g><title>([^<]*)<\/title><rect x="([^"]*)" y="([^"]*)" width="([^"]*)"(.*)<\/g>/g), ([, title, x, y, width, rest]) => {
    const text = /<text[^>]*>([^<]*)</.exec(rest)?.[1] ?? '';
    return `${title.split('\n')[0]}: ${x} + ${width} in row ${Number(y) / 20}: ${text}`;
  });
}

describe('the picture of a graph', () => {
  test('does not take small threads for functions', async () => {
    const threads = Array.from({ length: 3000 }, (_, index) => ({ timeNs: index, period: 1, tid: 100 + index, stack: ['main'] }));
    const state = new State(await pageRecording(buildProfile(threads)));
    state.group('thread');
    expect(pictureOf(state, 500)).toContain('<title>3000 boxes too small to be drawn\n');
    const functions = threads.map((one, index) => ({ ...one, stack: [`f${index}`] }));
    expect(pictureOf(new State(await pageRecording(buildProfile(functions.map(({ tid, ...one }) => one)))), 500)).toContain(
      '<title>3000 functions too small to be drawn\n',
    );
  });

  test('says which part of a recording it shows', async () => {
    const profile = buildProfile([{ timeNs: 0, period: 5, stack: ['main'] }]);
    const part = { ...profile, meta: { ...profile.meta, filter: 'comm <a>' } };
    expect(pictureOf(new State(await pageRecording(part)))).toContain('>cpu-clock: 5 ns \u00b7 part of the recording (comm &lt;a&gt;)</text>');
    expect(pictureOf(new State(await pageRecording(profile)))).toContain('>cpu-clock: 5 ns</text>');
  });

  test('has a box with a tooltip and a text for each function that is shown', async () => {
    const state = new State(await recordingOfStacks({ 'main;sort;compare': 600, 'main;sort': 100, 'main;parse': 290, 'main;read_from_file': 10 }));
    const picture = pictureOf(state);
    expect(boxesOf(picture)).toEqual([
      'all: 0 + 999 in row 0: all: 1.00 µs',
      'main: 0 + 999 in row 1: main',
      'sort: 0 + 699 in row 2: sort',
      'parse: 700 + 289 in row 2: parse',
      'read_from_file: 990 + 9 in row 2: ',
      'compare: 0 + 599 in row 3: compare',
    ]);
    expect(picture).toContain('<title>sort\n/bin/app · User code\ntotal 700 ns (70.0%) · self 100 ns (10.0%) · 70.0% of the box above</title>');
    expect(picture).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="1024" height="170"/);
    expect(picture).toContain('>User code 100%</text>');
    expect(picture).not.toContain('#outline');
  });

  test('shows what is zoomed, searched for and chosen', async () => {
    const state = new State(await recordingOfStacks({ 'main;sort;compare': 6, 'main;parse': 4 }));
    state.zoom(state.graph.children(state.graph.children(ROOT)[0])[0]);
    state.choose(functionOf(state.graph.code(state.zoomed)));
    state.search('comp');
    const picture = pictureOf(state);
    expect(boxesOf(picture).map((box) => box.replace(/: .*/, ''))).toEqual(['all', 'main', 'sort', 'compare']);
    expect(picture).toContain('fill="#match"/><text x="4" y="74" textLength="70" lengthAdjust="spacingAndGlyphs" fill="#matched">compare</text>');
    expect(picture).toContain('<rect x="0" y="57" width="999" height="2" fill="#outline"/>');
    expect(picture).toContain('cpu-clock: 10 ns · “comp”: 60.0% match');
    state.turn('callers');
    expect(pictureOf(state)).toContain('cpu-clock: 10 ns · callers below · “comp”');
  });

  test('has names as text, also those for which XML has no characters', async () => {
    const names = ['</title><script>alert(1)</script>', 'a & b', '\uffff', '\ud800', 'x'.repeat(60_000)];
    const profile = buildProfile(
      names.map((name, timeNs) => ({ timeNs, event: names[0], stack: [{ name, dso: name, file: name, line: 1 }] })),
      { meta: { inputName: names[0] } },
    );
    const state = new State(await pageRecording(profile));
    state.search('<');
    const picture = pictureOf(state, 100_000);
    expect(picture.replaceAll(/<\/?(?:svg|title|rect|text|g)\b[^<>]*>/g, '')).not.toMatch(/[<>\uffff\ud800]/);
    expect(picture).not.toMatch(/&(?!amp;|lt;|gt;)/);
    expect(picture).toContain('<title>\ufffd\n');
    expect(picture).toContain('“&lt;”');
    expect(picture.length).toBeLessThan(10_000);
  });

  test('begins names that are written from right to left at the left edge of what they are cut to', async () => {
    const picture = pictureOf(new State(await recordingOfStacks({ '\u05d0\u05d1\u05d2': 1 })));
    expect(picture).toMatch(/<text x="4" [^>]* direction="rtl" text-anchor="end">\u05d0\u05d1\u05d2</);
  });
});
