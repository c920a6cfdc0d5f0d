import { categoryOf } from '../model/categories.ts';
import { change, pointsText } from '../model/comparison.ts';
import { fileName } from '../model/file-name.ts';
import { percentText } from '../model/units.ts';
import type { Colors } from './colors.ts';
import { button, byId, element, named } from './dom.ts';
import { RowFocus } from './row-focus.ts';
import type { State } from './state.ts';

const COLUMNS = [
  { id: 'self', label: 'Self', className: 'number' },
  { id: 'selfShare', label: 'Self %', className: 'number percent' },
  // Only where something is compared.
  { id: 'change', label: 'Change', className: 'number' },
  { id: 'total', label: 'Total', className: 'number' },
  { id: 'totalShare', label: 'Total %', className: 'number percent' },
  { id: 'function', label: 'Function', className: 'function' },
  { id: 'binary', label: 'Binary', className: 'binary' },
] as const;

type ColumnId = (typeof COLUMNS)[number]['id'];

/** How many rows there are at first, and how many more at a time. */
const FIRST_ROWS = 100;
const MORE_ROWS = 400;
const MAX_NAME = 500;

/** The table of functions: sorted by a column, and filtered by the search. */
export class TableView {
  readonly #state: State;
  readonly #colors: Colors;
  readonly #table = byId<HTMLTableElement>('table');
  readonly #count = byId('count');
  readonly #more = byId<HTMLButtonElement>('more');
  readonly #rowFocus = new RowFocus(this.#table.tBodies[0]);
  readonly #headers = new Map<ColumnId, HTMLTableCellElement>();
  #sortedBy: ColumnId = 'self';
  #isAscending = false;
  #limit = FIRST_ROWS;
  /** Functions in order. */
  #order: number[] = [];

  constructor(state: State, colors: Colors) {
    this.#state = state;
    this.#colors = colors;
    this.#table.tHead?.append(this.#headerRow());
    this.#more.addEventListener('click', () => {
      const shown = this.#table.tBodies[0].rows.length;
      this.#limit += MORE_ROWS;
      this.#render();
      // The button may be gone now.
      this.#table.tBodies[0].rows[shown]?.querySelector('button')?.focus();
    });
    state.watch((change) => {
      if (change === 'samples' || change === 'search') this.update();
      else if (change === 'function') this.#markChosen();
      else if (change === 'colors') this.#render();
    });
  }

  /** Finds the rows anew. */
  update(): void {
    const { comparison, functions: weights, matches, recording } = this.#state;
    this.#followComparison();
    this.#order = [];
    for (let index = 0; index < weights.total.length; index++) {
      if (recording.functions[index].kind === 'group') continue;
      const isThere = weights.total[index] > 0 || (comparison !== undefined && comparison.functions.total[index] > 0);
      if (isThere && (matches === undefined || matches[index] === 1)) this.#order.push(index);
    }
    this.#limit = FIRST_ROWS;
    this.#sort();
  }

  /** Has a column of changes as long as something is compared. The largest ones are first then, whether shares have grown or shrunk. */
  #followComparison(): void {
    const { compared, comparison, recording } = this.#state;
    const header = this.#headers.get('change')!;
    header.title = comparison === undefined ? '' : `Self % minus that in ${recording.inputs[compared]}, in percentage points`;
    this.#table.classList.toggle('compared', comparison !== undefined);
    if (header.hidden === (comparison === undefined)) return;
    header.hidden = comparison === undefined;
    this.#sortedBy = comparison === undefined ? 'self' : 'change';
    this.#isAscending = false;
  }

  #headerRow(): HTMLTableRowElement {
    const row = element('tr', '');
    for (const { className, id, label } of COLUMNS) {
      const header = element(
        'th',
        className,
        button(label, `Sort by ${label}`, () => this.#sortBy(id)),
      );
      header.scope = 'col';
      header.hidden = id === 'change';
      this.#headers.set(id, header);
      row.append(header);
    }
    return row;
  }

  #sortBy(column: ColumnId): void {
    this.#isAscending = column === this.#sortedBy ? !this.#isAscending : column === 'function' || column === 'binary';
    this.#sortedBy = column;
    this.#sort();
  }

  #sort(): void {
    const { comparison, functions: weights, recording, whole } = this.#state;
    const { functions } = recording;
    const compareTexts = (column: 'name' | 'binary') => (a: number, b: number) =>
      functions[a][column] < functions[b][column] ? -1 : functions[a][column] > functions[b][column] ? 1 : 0;
    const compareWeights = (column: 'self' | 'total') => (a: number, b: number) => weights[column][a] - weights[column][b];
    const changeOf = (index: number): number =>
      comparison === undefined ? 0 : change(weights.self[index], whole, comparison.functions.self[index], comparison.whole);
    const compare = {
      self: compareWeights('self'),
      selfShare: compareWeights('self'),
      change: (a: number, b: number): number => Math.abs(changeOf(a)) - Math.abs(changeOf(b)),
      total: compareWeights('total'),
      totalShare: compareWeights('total'),
      function: compareTexts('name'),
      binary: compareTexts('binary'),
    }[this.#sortedBy];
    const sign = this.#isAscending ? 1 : -1;
    // Among equals, the heaviest comes first.
    this.#order.sort((a, b) => sign * compare(a, b) || weights.total[b] - weights.total[a] || a - b);
    for (const [id, header] of this.#headers) {
      if (id === this.#sortedBy) header.setAttribute('aria-sort', this.#isAscending ? 'ascending' : 'descending');
      else header.removeAttribute('aria-sort');
    }
    this.#render();
  }

  #render(): void {
    const shown = this.#order.slice(0, this.#limit);
    this.#table.tBodies[0].replaceChildren(...shown.map((index) => this.#row(index)));
    this.#rowFocus.update(this.#chosenRow());
    const left = this.#order.length - shown.length;
    this.#count.textContent =
      left > 0 ? `${shown.length} of ${this.#order.length} functions` : functionCount(this.#order.length, this.#state.matches !== undefined);
    this.#more.hidden = left === 0;
    this.#more.textContent = `Show ${Math.min(left, MORE_ROWS)} more`;
  }

  #row(index: number): HTMLTableRowElement {
    const { chosen, comparison, functions: weights, recording, whole } = this.#state;
    const one = recording.functions[index];
    const swatch = element('i', '');
    swatch.style.background = this.#colors.category(categoryOf(one, false));
    const name = button(named('span', 'cut', one.name.slice(0, MAX_NAME)), one.fullName.slice(0, MAX_NAME), () => this.#state.choose(index));
    name.prepend(swatch);
    const binary = named('td', 'binary', baseName(one.binary));
    binary.title = one.binary.slice(0, MAX_NAME);
    const row = element(
      'tr',
      '',
      element('td', 'number', this.#state.weightText(weights.self[index])),
      element('td', 'number percent', percentText(weights.self[index], whole)),
      ...(comparison === undefined
        ? []
        : [element('td', 'number', pointsText(weights.self[index], whole, comparison.functions.self[index], comparison.whole))]),
      element('td', 'number', this.#state.weightText(weights.total[index])),
      element('td', 'number percent', percentText(weights.total[index], whole)),
      element('td', 'function', name),
      binary,
    );
    row.dataset.function = String(index);
    if (index === chosen) row.setAttribute('aria-current', 'true');
    return row;
  }

  #markChosen(): void {
    this.#table.querySelector('tr[aria-current]')?.removeAttribute('aria-current');
    const row = this.#chosenRow();
    row?.setAttribute('aria-current', 'true');
    this.#rowFocus.update(row);
  }

  /** The row of the chosen function, if there is one. */
  #chosenRow(): HTMLTableRowElement | undefined {
    return Array.from(this.#table.tBodies[0].rows).find(({ dataset }) => dataset.function === String(this.#state.chosen));
  }
}

function functionCount(count: number, isSearch: boolean): string {
  if (count === 0) return isSearch ? 'No function matches.' : 'No samples.';
  return count === 1 ? '1 function' : `${count} functions`;
}

/** The part of a path after the last slash. */
function baseName(path: string): string {
  return path.startsWith('[') ? path : fileName(path) || path;
}
