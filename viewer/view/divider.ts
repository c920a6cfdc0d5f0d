import { byId } from './dom.ts';

const STEP = 2;

/** The custom properties that give the style sheet the shares of what is before and after the line. */
export interface Shares {
  readonly before: string;
  readonly after: string;
}

/**
 * A line between two parts of the page, which one can move: by dragging it, or with the arrow keys. A double click puts it back. It stays where it is when the
 * page is loaded again in the same tab. Its first, smallest and largest places are in the page: shares of what is before it, in percent.
 */
export class Divider {
  readonly #element: HTMLElement;
  readonly #parent: HTMLElement;
  readonly #shares: Shares;
  /** Whether it is between what is beside each other, not above each other. */
  readonly #isVertical: boolean;
  readonly #first: number;
  #share: number;
  /** How far from its edge it was pressed. */
  #grabbed = 0;

  constructor(id: string, shares: Shares) {
    this.#element = byId(id);
    this.#parent = this.#element.parentElement!;
    this.#shares = shares;
    this.#isVertical = this.#element.getAttribute('aria-orientation') === 'vertical';
    this.#first = this.#percent('valuenow');
    this.#share = this.#first;
    this.#listen();
    const kept = readKept(id);
    if (kept !== undefined) this.#moveTo(kept);
  }

  #listen(): void {
    const divider = this.#element;
    divider.addEventListener('pointerdown', (event) => {
      divider.setPointerCapture(event.pointerId);
      this.#grabbed = this.#along(event) - this.#extent(divider).start;
    });
    divider.addEventListener('pointermove', (event) => {
      if (!divider.hasPointerCapture(event.pointerId)) return;
      const { start, size } = this.#extent(this.#parent);
      this.#moveTo((100 * (this.#along(event) - this.#grabbed - start)) / (size - this.#extent(divider).size));
    });
    divider.addEventListener('dblclick', () => this.#moveTo(this.#first));
    divider.addEventListener('keydown', (event) => this.#press(event));
  }

  #along({ clientX, clientY }: MouseEvent): number {
    return this.#isVertical ? clientX : clientY;
  }

  #extent(element: Element): { readonly start: number; readonly size: number } {
    const { left, top, width, height } = element.getBoundingClientRect();
    return this.#isVertical ? { start: left, size: width } : { start: top, size: height };
  }

  #percent(name: 'valuenow' | 'valuemin' | 'valuemax'): number {
    return Number(this.#element.getAttribute(`aria-${name}`));
  }

  #press(event: KeyboardEvent): void {
    const [less, more] = this.#isVertical ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'];
    const places: Readonly<Record<string, number>> = {
      [less]: this.#share - STEP,
      [more]: this.#share + STEP,
      Home: this.#percent('valuemin'),
      End: this.#percent('valuemax'),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(places, event.key)) return;
    event.preventDefault();
    this.#moveTo(places[event.key]);
  }

  #moveTo(share: number): void {
    this.#share = Math.min(this.#percent('valuemax'), Math.max(this.#percent('valuemin'), share));
    const { before, after } = this.#shares;
    this.#parent.style.setProperty(before, `${this.#share}fr`);
    this.#parent.style.setProperty(after, `${100 - this.#share}fr`);
    this.#element.setAttribute('aria-valuenow', String(Math.round(this.#share)));
    keep(this.#element.id, this.#share);
  }
}

function readKept(id: string): number | undefined {
  try {
    const text = sessionStorage.getItem(keyOf(id));
    // Others may have written it: all pages of a server share what is kept.
    return text !== null && Number.isFinite(Number(text)) ? Number(text) : undefined;
  } catch {
    // A frame without an origin, or a browser that is told to keep nothing.
    return undefined;
  }
}

function keep(id: string, share: number): void {
  try {
    sessionStorage.setItem(keyOf(id), String(share));
  } catch {
    // Then it is back in its first place when the page is loaded again.
  }
}

function keyOf(id: string): string {
  return `perfconv ${id}`;
}
