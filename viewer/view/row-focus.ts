const PAGE_OVERLAP = 1;

/**
 * Makes the buttons of a table's rows one stop of the Tab key, from which arrow keys, Home, End, Page Up and Page Down lead to the other rows: Tab goes past
 * hundreds of them. Source: WAI-ARIA Authoring Practices, "Managing Focus Within Components Using a Roving tabindex".
 */
export class RowFocus {
  readonly #body: HTMLTableSectionElement;
  /** The row that Tab leads to. */
  #stop: HTMLTableRowElement | undefined;

  /** @param body the rows, each with one button */
  constructor(body: HTMLTableSectionElement) {
    this.#body = body;
    body.addEventListener('keydown', (event) => this.#press(event));
    body.addEventListener('focusin', ({ target }) => this.#moveStop((target as Element).closest('tr') ?? undefined));
  }

  /** Must be called when rows were added or replaced. @param preferred the row that Tab is to lead to; undefined for the one it led to, or the first */
  update(preferred?: HTMLTableRowElement): void {
    for (const row of this.#body.rows) buttonOf(row).tabIndex = -1;
    const known = this.#stop !== undefined && this.#body.contains(this.#stop) ? this.#stop : undefined;
    this.#moveStop(preferred ?? known ?? this.#body.rows[0]);
  }

  #moveStop(row: HTMLTableRowElement | undefined): void {
    if (this.#stop !== undefined) buttonOf(this.#stop).tabIndex = -1;
    this.#stop = row;
    if (row !== undefined) buttonOf(row).tabIndex = 0;
  }

  #press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const { rows } = this.#body;
    const at = Array.prototype.indexOf.call(rows, (event.target as Element).closest('tr'));
    const goals: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + this.#page(rows[at]),
      PageUp: at - this.#page(rows[at]),
      Home: 0,
      End: rows.length - 1,
    };
    if (!Object.hasOwn(goals, event.key)) return;
    event.preventDefault();
    buttonOf(rows[Math.max(0, Math.min(rows.length - 1, goals[event.key]))]).focus();
  }

  /** How many rows can be seen at a time, without the one that stays in sight; at least 1. */
  #page(row: HTMLTableRowElement): number {
    const seen = row.closest('.table, aside')?.clientHeight ?? 0;
    return Math.max(1, Math.floor(seen / row.offsetHeight) - PAGE_OVERLAP);
  }
}

function buttonOf(row: HTMLTableRowElement): HTMLButtonElement {
  return row.querySelector('button')!;
}
