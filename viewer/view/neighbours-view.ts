import { type Neighbour, neighboursOf } from '../model/function-weights.ts';
import { percentText } from '../model/units.ts';
import { button, byId, element } from './dom.ts';
import type { State } from './state.ts';

/** How many callers or callees there are at first. */
const FIRST_ROWS = 50;
const MAX_NAME = 4000;
const MAX_IN_ROW = 500;

/** The chosen function: what it is, who called it, whom it called. */
export class NeighboursView {
  readonly #state: State;
  readonly #element = byId('neighbours');

  constructor(state: State) {
    this.#state = state;
    state.watch((change) => {
      if (change === 'samples' || change === 'function') this.render();
    });
  }

  render(): void {
    const nothing = element('p', 'place', 'Choose a function, in the graph or in the table, to see its callers and callees.');
    this.#element.replaceChildren(...(this.#state.chosen < 0 ? [nothing] : this.#describe()));
  }

  #describe(): HTMLElement[] {
    const { chosen, functions: weights, recording, total } = this.#state;
    const one = recording.functions[chosen];
    const place = [one.place, one.binary].filter((text) => text !== '').join(' · ');
    const { callees, callers } = neighboursOf(recording, total, chosen);
    return [
      element('h2', '', one.fullName.slice(0, MAX_NAME)),
      element('p', 'place', place.slice(0, MAX_NAME)),
      element('p', 'numbers', `self ${this.#state.shareText(weights.self[chosen])} · total ${this.#state.shareText(weights.total[chosen])}`),
      ...this.#list('Callers', callers, 'Nothing calls it: it is at the root of its stacks.'),
      ...this.#list('Callees', callees, 'It calls nothing.'),
    ];
  }

  #list(title: string, neighbours: readonly Neighbour[], nothing: string): HTMLElement[] {
    const heading = element('h3', '', title);
    if (neighbours.length === 0) return [heading, element('p', 'place', nothing)];
    const first = neighbours.slice(0, FIRST_ROWS);
    const body = element('tbody', '', ...first.map((one) => this.#row(one)));
    const table = element('table', '', element('caption', 'unseen', title), body);
    if (first.length === neighbours.length) return [heading, table];
    const more = button(`Show all ${neighbours.length}`, '', () => {
      body.append(...neighbours.slice(FIRST_ROWS).map((one) => this.#row(one)));
      more.remove();
    });
    return [heading, table, more];
  }

  #row({ function: index, weight }: Neighbour): HTMLElement {
    const { chosen, functions: weights, recording } = this.#state;
    const { fullName, name } = recording.functions[index];
    return element(
      'tr',
      '',
      element('td', 'number', this.#state.weightText(weight)),
      element('td', 'number percent', percentText(weight, weights.total[chosen])),
      element(
        'td',
        'function',
        button(name.slice(0, MAX_IN_ROW), fullName.slice(0, MAX_IN_ROW), () => this.#state.choose(index)),
      ),
    );
  }
}
