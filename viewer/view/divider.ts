import { byId } from './dom.ts';

/** Shares of the height that the graph may have, in percent. What it had at first is the one that the style sheet gives it. */
const FIRST = 60;
const SMALLEST = 15;
const LARGEST = 90;
const STEP = 2;

/** The line between graph and table, which one can move: by dragging it, or with the arrow keys. A double click puts it back. */
export class Divider {
  readonly #element = byId('divider');
  readonly #main = document.querySelector('main')!;
  #share = FIRST;
  /** How far below its upper edge it was pressed. */
  #grabbed = 0;

  constructor() {
    const divider = this.#element;
    divider.addEventListener('pointerdown', (event) => {
      divider.setPointerCapture(event.pointerId);
      this.#grabbed = event.clientY - divider.getBoundingClientRect().top;
    });
    divider.addEventListener('pointermove', (event) => {
      if (!divider.hasPointerCapture(event.pointerId)) return;
      const { height, top } = this.#main.getBoundingClientRect();
      this.#moveTo((100 * (event.clientY - this.#grabbed - top)) / (height - divider.offsetHeight));
    });
    divider.addEventListener('dblclick', () => this.#moveTo(FIRST));
    divider.addEventListener('keydown', (event) => this.#press(event));
  }

  #press(event: KeyboardEvent): void {
    const places: Readonly<Record<string, number>> = { ArrowUp: this.#share - STEP, ArrowDown: this.#share + STEP, Home: SMALLEST, End: LARGEST };
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(places, event.key)) return;
    event.preventDefault();
    this.#moveTo(places[event.key]);
  }

  #moveTo(share: number): void {
    this.#share = Math.min(LARGEST, Math.max(SMALLEST, share));
    this.#main.style.setProperty('--upper', `${this.#share}fr`);
    this.#main.style.setProperty('--lower', `${100 - this.#share}fr`);
    this.#element.setAttribute('aria-valuenow', String(Math.round(this.#share)));
  }
}
