import { byId } from './dom.ts';

const DISTANCE_PX = 14;

/** What is shown beside the pointer. */
export class Tip {
  readonly #element = byId('tip');

  fill(lines: readonly HTMLElement[]): void {
    this.#element.replaceChildren(...lines);
    this.#element.hidden = false;
  }

  /** Moves it to a place of the window, or to the other side of it if it would not fit. */
  moveTo(x: number, y: number): void {
    const { offsetHeight, offsetWidth, style } = this.#element;
    const left = x + DISTANCE_PX + offsetWidth > window.innerWidth ? Math.max(0, x - DISTANCE_PX - offsetWidth) : x + DISTANCE_PX;
    const top = y + DISTANCE_PX + offsetHeight > window.innerHeight ? Math.max(0, y - DISTANCE_PX - offsetHeight) : y + DISTANCE_PX;
    style.left = `${left}px`;
    style.top = `${top}px`;
  }

  hide(): void {
    this.#element.hidden = true;
  }
}
