import { fileName } from '../model/file-name.ts';
import { foldedLines } from '../model/folded.ts';
import { ROOT } from '../model/recording.ts';
import { byId } from './dom.ts';
import { download } from './download.ts';
import { FONT_FAMILY, FONT_PX, type GraphColors } from './look.ts';
import type { State } from './state.ts';
import { svgText } from './svg.ts';

/** Of the picture if the graph is hidden. */
const DEFAULT_WIDTH = 1200;
const MAX_NAME = 100;
/** What is kept as one text until the browser takes it; no engine has longer ones than half a gigabyte. */
const PIECE = 1 << 20;

/** The buttons that save what is shown. */
export class Saving {
  readonly #state: State;
  readonly #colors: GraphColors;
  readonly #buttons = [byId<HTMLButtonElement>('saveSvg'), byId<HTMLButtonElement>('saveFolded')];

  constructor(state: State, colors: GraphColors) {
    this.#state = state;
    this.#colors = colors;
    this.#buttons[0].addEventListener('click', () => this.#saveSvg());
    this.#buttons[1].addEventListener('click', () => this.#saveFolded());
    state.watch((change) => {
      if (change === 'samples' || change === 'graph') this.render();
    });
  }

  render(): void {
    const isEmpty = this.#state.graph.weight(ROOT) === 0;
    for (const one of this.#buttons) one.disabled = isEmpty;
  }

  #saveSvg(): void {
    const context = document.createElement('canvas').getContext('2d');
    if (context === null) return;
    context.font = `${FONT_PX}px ${FONT_FAMILY}`;
    const width = byId('scroller').clientWidth || DEFAULT_WIDTH;
    this.#save(
      svgText(this.#state, this.#colors, width, (text) => context.measureText(text).width),
      'svg',
      'image/svg+xml',
    );
  }

  #saveFolded(): void {
    const { grouping, recording, shownStacks } = this.#state;
    this.#save(foldedLines(recording, shownStacks, grouping !== 'none'), 'folded', 'text/plain;charset=utf-8');
  }

  #save(texts: Iterable<string>, extension: string, type: string): void {
    const pieces: Blob[] = [];
    let piece = '';
    for (const text of texts) {
      piece += text;
      if (piece.length < PIECE) continue;
      pieces.push(new Blob([piece]));
      piece = '';
    }
    download(new Blob([...pieces, piece], { type }), `${fileStem(this.#state.recording.name)}.${extension}`);
  }
}

/** The name of a file without its extension, and without what some systems have no names with. */
function fileStem(name: string): string {
  const stem = fileName(name)
    .replace(/\.[^.]{1,9}$/, '')
    .replace(/[\\:*?"<>|]/g, '_');
  return stem.slice(0, MAX_NAME) || 'profile';
}
