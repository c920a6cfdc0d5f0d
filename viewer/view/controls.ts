import { comparableInputs } from '../model/comparison.ts';
import { closed } from '../model/direction.ts';
import { recordingFacts } from '../model/facts.ts';
import { GROUPINGS } from '../model/grouping.ts';
import { ROOT } from '../model/recording.ts';
import { percentText } from '../model/units.ts';
import { DIRECTIONS, PANES } from '../model/view.ts';
import type { Colors } from './colors.ts';
import { byId, element, oncePerFrame } from './dom.ts';
import { legendOf } from './legend.ts';
import { ScopeList } from './scope-list.ts';
import type { State } from './state.ts';

const MAX_LABEL = 80;

/** What one chooses above the graph, and the legend. */
export class Controls {
  readonly #state: State;
  readonly #colors: Colors;
  readonly #event = byId<HTMLSelectElement>('event');
  readonly #scopes: ScopeList;
  readonly #weight = byId<HTMLSelectElement>('weight');
  readonly #grouping = byId<HTMLSelectElement>('grouping');
  readonly #compared = byId<HTMLSelectElement>('compared');
  readonly #search = byId<HTMLInputElement>('search');

  constructor(state: State, colors: Colors) {
    this.#state = state;
    this.#colors = colors;
    this.#scopes = new ScopeList(state);
    const { recording } = state;
    const listed = recording.events.flatMap((event, index) => (event.samples > 0 ? [{ event, index }] : []));
    // The one that is shown first leads the list.
    listed.sort((a, b) => Number(b.index === recording.event) - Number(a.index === recording.event) || b.event.samples - a.event.samples);
    this.#event.append(...listed.map(({ event, index }) => new Option(event.name.slice(0, MAX_LABEL), String(index))));
    this.#event.addEventListener('change', () => state.showEvent(Number(this.#event.value)));
    this.#weight.addEventListener('change', () => state.select({ weight: this.#weight.value === 'samples' ? 'samples' : 'period' }));
    if (recording.inputs.length < 2) this.#grouping.querySelector('[value=input]')?.remove();
    this.#grouping.addEventListener('change', () => state.group(GROUPINGS.find((one) => one === this.#grouping.value) ?? 'none'));
    this.#compared.append(...recording.inputs.map((name, index) => new Option(closed(name.slice(0, MAX_LABEL)), String(index))));
    this.#compared.parentElement!.hidden = recording.inputs.length < 2;
    this.#compared.addEventListener('change', () => state.compare(Number(this.#compared.value)));
    onChoice('direction', (value) => state.turn(DIRECTIONS.find((one) => one === value) ?? 'calls'));
    onChoice('panes', (value) => state.show(PANES.find((one) => one === value) ?? 'both'));
    const search = oncePerFrame(() => state.search(this.#search.value));
    this.#search.addEventListener('input', search);
    this.#search.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || this.#search.value === '') return;
      event.stopPropagation();
      this.#search.value = '';
      search();
    });
    document.addEventListener('keydown', (event) => this.#press(event));
    state.watch((change) => {
      this.#follow();
      if (change === 'samples') this.render();
      else if (change === 'search') this.#showShare();
      else if (change === 'colors') this.#showLegend();
    });
  }

  /** What one chooses may also come from the page's address. */
  #follow(): void {
    const { compared, direction, grouping, panes, searched, selection } = this.#state;
    this.#event.value = String(selection.event);
    this.#grouping.value = grouping;
    this.#compared.value = String(compared);
    if (this.#search.value !== searched) this.#search.value = searched;
    for (const value of [direction, panes]) document.querySelector<HTMLInputElement>(`input[value=${value}]`)!.checked = true;
    document.querySelector('main')!.className = panes;
  }

  render(): void {
    this.#follow();
    const { recording, selection } = this.#state;
    const event = recording.events[selection.event];
    const period = new Option(event.unit === 'nanoseconds' ? 'Time' : 'Event count', 'period');
    this.#weight.replaceChildren(...(event.period > 0 ? [period] : []), new Option('Samples', 'samples'));
    this.#weight.value = selection.weight;
    this.#scopes.render();
    const comparable = comparableInputs(recording, selection.event);
    for (const option of this.#compared.options) option.disabled = option.value !== '-1' && !comparable.includes(Number(option.value));
    byId('name').textContent = recording.name;
    byId('name').title = recording.name;
    const summary = recordingFacts(recording, selection.event);
    byId('summary').textContent = summary;
    byId('summary').title = summary;
    this.#showLegend();
    this.#showShare();
  }

  #showLegend(): void {
    const entries = legendOf(this.#state, this.#colors).map(({ color, label, share, title }) => {
      const swatch = element('i', '');
      swatch.style.background = color;
      const entry = element('li', '', swatch, label, ...(share === '' ? [] : [' ', element('b', '', share)]));
      entry.title = title;
      return entry;
    });
    byId('legend').replaceChildren(...entries);
  }

  #showShare(): void {
    const { matched, matches, whole } = this.#state;
    byId('share').textContent = matches === undefined ? '' : `${percentText(matched, whole)} match`;
  }

  #press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target === this.#search;
    if (event.key === '/' && !isTyping) {
      event.preventDefault();
      this.#search.focus();
      this.#search.select();
    } else if (event.key === 'Escape') {
      if (this.#state.zoomed !== ROOT) this.#state.zoom(ROOT);
      else if (this.#state.focused >= 0) this.#state.focus(-1);
    }
  }
}

function onChoice(name: string, choose: (value: string) => void): void {
  for (const input of document.querySelectorAll<HTMLInputElement>(`input[name="${name}"]`)) {
    input.addEventListener('change', () => choose(input.value));
  }
}
