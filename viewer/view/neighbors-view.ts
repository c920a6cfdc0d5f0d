import { type Neighbor, neighborsOf } from '../model/function-weights.ts';
import { percentText } from '../model/units.ts';
import { baseText } from './box-texts.ts';
import { button, byId, element, named, replaceContent } from './dom.ts';
import { RowFocus } from './row-focus.ts';
import type { State } from './state.ts';

/** How many callers or callees there are at first, and how many more at a time. */
const FIRST_ROWS = 50;
const MORE_ROWS = 400;
const MAX_NAME = 4000;
const MAX_IN_ROW = 500;

/** The chosen function: what it is, who called it, whom it called. */
export class NeighborsView {
  readonly #state: State;
  /** What is read out when a function is chosen, without its neighbors. */
  readonly #facts = byId('chosen');
  readonly #lists = byId('lists');

  constructor(state: State) {
    this.#state = state;
    state.watch((change) => {
      if (change === 'samples' || change === 'function') this.render();
      else if (change === 'graph') this.#markFocus();
    });
  }

  render(): void {
    if (this.#state.chosen < 0) {
      this.#facts.replaceChildren(element('p', 'place', 'Choose a function, in the graph or in the table, to see its callers and callees.'));
      this.#lists.replaceChildren();
    } else this.#describe();
  }

  #describe(): void {
    const { chosen, recording, tree } = this.#state;
    const one = recording.functions[chosen];
    const place = [one.place, one.binary].filter((text) => text !== '').join(' · ');
    const { callees, callers } = neighborsOf(tree, chosen);
    const heading = named('h2', '', one.fullName.slice(0, MAX_NAME));
    heading.tabIndex = -1;
    this.#facts.replaceChildren(heading, element('p', 'place', place.slice(0, MAX_NAME)), ...this.#numbers());
    const focus = button('', 'The graph has it alone: with what it calls (Top-down), or with what calls it (Bottom-up)', () => this.#toggleFocus());
    focus.id = 'focus';
    const lists = [
      focus,
      ...(this.#isGone
        ? [element('p', 'place', 'None of the samples shown has it.')]
        : [...this.#list('Callers', callers, 'Nothing calls it: it is at the root of its stacks.'), ...this.#list('Callees', callees, 'It calls nothing.')]),
    ];
    replaceContent(this.#lists, lists, heading);
    this.#markFocus();
  }

  /** `self 12.3 ms (4.56%) · total 20.1 ms (7.89%)`; where they are compared, each with its share in the base. */
  #numbers(): HTMLElement[] {
    const { chosen, comparison, functions } = this.#state;
    const texts = (['self', 'total'] as const).map((which) => {
      const weight = functions[which][chosen];
      const own = `${which} ${this.#state.shareText(weight)}`;
      return comparison === undefined ? own : `${own} · ${baseText(this.#state, weight, comparison.functions[which][chosen])}`;
    });
    return (comparison === undefined ? [texts.join(' · ')] : texts).map((text) => element('p', 'numbers', text));
  }

  #toggleFocus(): void {
    this.#state.focus(this.#isFocused ? -1 : this.#state.chosen);
  }

  /** Whether no sample that is shown has the chosen function: it is of another thread, or of the recording that is compared with. */
  get #isGone(): boolean {
    return this.#state.functions.total[this.#state.chosen] === 0;
  }

  get #isFocused(): boolean {
    return this.#state.focused === this.#state.chosen;
  }

  #markFocus(): void {
    const focus = this.#lists.querySelector('#focus');
    if (focus !== null) focus.textContent = this.#isFocused ? 'Show all stacks in the graph' : 'Show it alone in the graph';
  }

  #list(title: string, neighbors: readonly Neighbor[], nothing: string): HTMLElement[] {
    const heading = element('h3', '', title);
    if (neighbors.length === 0) return [heading, element('p', 'place', nothing)];
    const body = element('tbody', '');
    const table = element('table', '', element('caption', 'unseen', title), body);
    const rowFocus = new RowFocus(body);
    const add = (count: number): void => {
      const shown = body.rows.length;
      body.append(...neighbors.slice(shown, shown + count).map((one) => this.#row(one)));
      rowFocus.update();
      const left = neighbors.length - body.rows.length;
      more.hidden = left === 0;
      more.textContent = `Show ${Math.min(left, MORE_ROWS)} more`;
    };
    const more = button('', '', () => {
      const shown = body.rows.length;
      add(MORE_ROWS);
      // The button may be gone now.
      body.rows[shown]?.querySelector('button')?.focus();
    });
    add(FIRST_ROWS);
    return [heading, table, more];
  }

  #row({ function: index, weight }: Neighbor): HTMLElement {
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
        button(named('span', 'cut', name.slice(0, MAX_IN_ROW)), fullName.slice(0, MAX_IN_ROW), () => this.#state.choose(index)),
      ),
    );
  }
}
