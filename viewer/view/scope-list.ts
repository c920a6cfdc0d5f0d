import { closed } from '../model/direction.ts';
import { heaviestTasks, isSameScope, type Scope, type ScopeChoice, scopeChoices, scopeLabel } from '../model/selection.ts';
import { percentText } from '../model/units.ts';
import { byId, element } from './dom.ts';
import type { State } from './state.ts';

const MAX_LABEL = 80;
/** How many processes and threads are listed at first, and how many more at a time: browsers take seconds for a list of 20,000. */
const FIRST_TASKS = 300;
const MORE_TASKS = 3000;

/** The list of recordings, processes and threads. */
export class ScopeList {
  readonly #state: State;
  readonly #select = byId<HTMLSelectElement>('scope');
  /** By option; undefined for the one that shows more. */
  #scopes: (Scope | undefined)[] = [];
  #limit = FIRST_TASKS;

  constructor(state: State) {
    this.#state = state;
    this.#select.addEventListener('change', () => {
      const scope = this.#scopes[this.#select.selectedIndex];
      if (scope === undefined) this.#showMore();
      else state.select({ scope });
    });
  }

  render(): void {
    const { recording, selection } = this.#state;
    const choices = scopeChoices(recording, selection);
    const tasks = heaviestTasks(choices.tasks, this.#limit);
    const left = choices.tasks.length - tasks.length;
    this.#scopes = [];
    const option = ({ scope, weight }: ScopeChoice): HTMLOptionElement => {
      this.#scopes.push(scope);
      const indent = scope.of === 'thread' ? '\u2003' : '';
      return new Option(`${indent}${closed(scopeLabel(recording, scope).slice(0, MAX_LABEL))}  ${percentText(weight, choices.all)}`);
    };
    const all = option({ scope: { of: 'all' }, weight: choices.all });
    const inputs = groupOf('Recordings', choices.inputs.map(option));
    const options = tasks.map(option);
    if (left > 0) {
      options.push(new Option(`Show ${Math.min(left, MORE_TASKS)} more of ${left} …`));
      this.#scopes.push(undefined);
    }
    this.#select.replaceChildren(all, ...inputs, ...groupOf('Processes and threads', options));
    this.#selectCurrent(option, choices.tasks);
  }

  /** Selects what is shown. It stays in the list even if others have become heavier. */
  #selectCurrent(option: (choice: ScopeChoice) => HTMLOptionElement, tasks: readonly ScopeChoice[]): void {
    const { scope } = this.#state.selection;
    const isCurrent = (one: Scope | undefined): boolean => one !== undefined && isSameScope(one, scope);
    if (!this.#scopes.some(isCurrent)) this.#select.append(option(tasks.find((one) => isCurrent(one.scope)) ?? { scope, weight: 0 }));
    this.#select.selectedIndex = this.#scopes.findIndex(isCurrent);
  }

  #showMore(): void {
    this.#limit += MORE_TASKS;
    this.render();
  }
}

function groupOf(label: string, options: readonly HTMLOptionElement[]): HTMLElement[] {
  if (options.length === 0) return [];
  const made = element('optgroup', '');
  // One by one: there may be more threads than a call can take arguments.
  for (const one of options) made.append(one);
  made.label = label;
  return [made];
}
