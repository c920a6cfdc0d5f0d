import { pathTo } from '../model/graph.ts';
import { ROOT } from '../model/recording.ts';
import { boxName } from './box-texts.ts';
import { button, byId, element, named, replaceContent } from './dom.ts';
import type { State } from './state.ts';

/** How many boxes at both ends of a long path have buttons. */
const FIRST = 2;
const LAST = 5;

/** The way from the root to the zoomed box; each step leads back to it. */
export class PathView {
  readonly #state: State;
  readonly #element = byId('path');

  constructor(state: State) {
    this.#state = state;
    state.watch((change) => {
      if (change === 'samples' || change === 'graph' || change === 'zoom') this.render();
    });
  }

  render(): void {
    const { graph, zoomed } = this.#state;
    const path = [ROOT, ...pathTo(graph, zoomed, ROOT)];
    const left = path.length - FIRST - LAST;
    const parts: HTMLElement[] = [];
    for (const [at, node] of path.entries()) {
      if (at > 0 && !(left > 0 && at > FIRST && at < FIRST + left)) parts.push(element('span', '', '›'));
      if (left <= 0 || at < FIRST || at >= FIRST + left) parts.push(this.#step(node, at === path.length - 1));
      else if (at === FIRST) parts.push(element('span', '', `… ${left} more …`));
    }
    if (path.length > 1) parts.push(this.#reset('Reset zoom', 'Show everything (Escape)', () => this.#state.zoom(ROOT)));
    if (this.#state.focused >= 0) parts.push(this.#reset('Remove focus', 'Show all stacks (Escape)', () => this.#state.focus(-1)));
    replaceContent(
      this.#element,
      parts,
      parts.find((part) => part.hasAttribute('aria-current')),
    );
    // Its end says where one is.
    this.#element.scrollLeft = this.#element.scrollWidth;
  }

  #reset(label: string, title: string, undo: () => void): HTMLElement {
    const reset = button(`✕ ${label}`, title, undo);
    reset.className = 'reset';
    return reset;
  }

  #step(node: number, isLast: boolean): HTMLElement {
    const name = boxName(this.#state, node).slice(0, 200);
    const step = button(named('span', 'cut', name), name, () => this.#state.zoom(node));
    if (isLast) step.setAttribute('aria-current', 'true');
    return step;
  }
}
