import { boxAt, layOut, nodeOf, type Row } from '../model/layout.ts';
import { functionOf, ROOT } from '../model/recording.ts';
import { isRest } from '../model/rest-graph.ts';
import { Colors } from './colors.ts';
import { byId, oncePerFrame } from './dom.ts';
import { drawGraph, type Spot } from './draw.ts';
import { describeBox } from './labels.ts';
import { ROW_HEIGHT, SMALLEST_PX } from './look.ts';
import type { State } from './state.ts';
import { Tip } from './tip.ts';

/** How far the zoomed box is from the upper edge at least, in rows. */
const ROWS_ABOVE = 3;

/** The flame graph: a canvas as large as what can be seen of it, in a scrolled element. */
export class GraphView {
  readonly colors: Colors;
  readonly #state: State;
  readonly #canvas = byId<HTMLCanvasElement>('canvas');
  readonly #scroller = byId('scroller');
  readonly #extent = byId('extent');
  readonly #details = byId('details');
  readonly #tip = new Tip();
  readonly #draw = oncePerFrame(() => this.#paint());
  #rows: Row[] = [];
  #zoomedRow = 0;
  #hovered: Spot | undefined;
  #focused: Spot | undefined;
  #width = 0;
  #height = 0;

  constructor(state: State) {
    this.#state = state;
    this.colors = new Colors(() => state.recolor());
    state.watch((change) => {
      if (change === 'samples' || change === 'graph') this.#scroller.scrollTop = 0;
      if (change === 'search' || change === 'function') this.#draw();
      // At once: no frame follows when the page is printed.
      else if (change === 'colors') this.#paint();
      else this.#layOut(change === 'zoom');
    });
    this.#scroller.addEventListener('scroll', () => this.#draw());
    new ResizeObserver(() => this.#layOut(false)).observe(this.#scroller);
    this.#canvas.addEventListener('pointermove', (event) => this.#hover(event));
    this.#canvas.addEventListener('pointerleave', () => this.#leave());
    // The focus comes with the press, and must not scroll to another box.
    this.#canvas.addEventListener('pointerdown', (event) => {
      this.#focused = this.#spotAt(event) ?? this.#focused;
    });
    this.#canvas.addEventListener('click', (event) => this.#activate(this.#spotAt(event)));
    this.#canvas.addEventListener('keydown', (event) => this.#press(event));
    this.#canvas.addEventListener('focus', () => this.#focus(this.#focused ?? { row: this.#zoomedRow, at: 0 }));
    this.#canvas.addEventListener('blur', () => this.#draw());
  }

  /** Computes all boxes anew. @param isZoom whether to scroll to the zoomed one */
  #layOut(isZoom: boolean): void {
    const { graph, zoomed } = this.#state;
    const { clientHeight, clientWidth } = this.#scroller;
    if (clientWidth === 0) return;
    this.#width = clientWidth;
    this.#height = clientHeight;
    this.#rows = layOut(graph, zoomed, SMALLEST_PX / clientWidth);
    this.#zoomedRow = this.#rows.findIndex(({ nodes }) => nodes[0] === zoomed);
    this.#hovered = undefined;
    this.#focused = document.activeElement === this.#canvas ? { row: this.#zoomedRow, at: 0 } : undefined;
    this.#tip.hide();
    this.#extent.style.height = `${Math.max(this.#rows.length * ROW_HEIGHT, 1)}px`;
    if (isZoom) this.#scrollTo(this.#zoomedRow);
    this.#describe(this.#focused ?? { row: this.#zoomedRow, at: 0 });
    // At once: a canvas of another size is empty until then.
    this.#paint();
  }

  #paint(): void {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(this.#width * ratio), Math.round(this.#height * ratio)];
    if (this.#canvas.width !== width || this.#canvas.height !== height) {
      this.#canvas.width = width;
      this.#canvas.height = height;
      this.#canvas.style.width = `${this.#width}px`;
      this.#canvas.style.height = `${this.#height}px`;
    }
    const context = this.#canvas.getContext('2d');
    if (context === null || width === 0) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawGraph(context, this.#state, this.colors, {
      rows: this.#rows,
      zoomedRow: this.#zoomedRow,
      width: this.#width,
      top: this.#scroller.scrollTop,
      height: this.#height,
      hovered: this.#hovered,
      focused: document.activeElement === this.#canvas ? this.#focused : undefined,
    });
  }

  /** The box below the pointer. */
  #spotAt({ offsetX, offsetY }: MouseEvent): Spot | undefined {
    const row = Math.floor((offsetY + this.#scroller.scrollTop) / ROW_HEIGHT);
    const at = this.#rows[row] === undefined ? -1 : boxAt(this.#rows[row], offsetX / this.#width);
    return at < 0 ? undefined : { row, at };
  }

  #hover(event: PointerEvent): void {
    const spot = this.#spotAt(event);
    if (spot === undefined) {
      this.#leave();
      return;
    }
    const isSame = this.#hovered?.row === spot.row && this.#hovered.at === spot.at;
    this.#hovered = spot;
    if (!isSame) {
      this.#tip.fill(this.#linesOf(spot));
      this.#draw();
    }
    this.#tip.moveTo(event.clientX, event.clientY);
  }

  #leave(): void {
    this.#hovered = undefined;
    this.#tip.hide();
    this.#draw();
  }

  /** Zooms to a box, and chooses its function. */
  #activate(spot: Spot | undefined): void {
    if (spot === undefined) return;
    const node = this.#nodeAt(spot);
    if (node !== ROOT && !isRest(node)) this.#state.choose(functionOf(this.#state.graph.code(node)));
    const zoomed = this.#state.graph.zoomFor(node);
    if (zoomed !== this.#state.zoomed) this.#state.zoom(zoomed);
    else this.#describe(spot);
  }

  #press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const spot = this.#focused ?? { row: this.#zoomedRow, at: 0 };
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => this.#focus(this.#below(spot)),
      ArrowUp: () => this.#focus(this.#above(spot)),
      ArrowLeft: () => this.#focus({ row: spot.row, at: Math.max(0, spot.at - 1) }),
      ArrowRight: () => this.#focus({ row: spot.row, at: Math.min(this.#rows[spot.row].nodes.length - 1, spot.at + 1) }),
      Home: () => this.#focus({ row: 0, at: 0 }),
      Enter: () => this.#activate(spot),
      ' ': () => this.#activate(spot),
      Backspace: () => this.#state.zoom(this.#state.graph.parent(this.#state.zoomed)),
    };
    if (!Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    moves[event.key]();
  }

  /** The box that the keyboard is at. */
  #focus(spot: Spot): void {
    this.#focused = spot;
    const top = spot.row * ROW_HEIGHT;
    const { scrollTop } = this.#scroller;
    if (top < scrollTop) this.#scroller.scrollTop = top;
    else if (top + ROW_HEIGHT > scrollTop + this.#height) this.#scroller.scrollTop = top + ROW_HEIGHT - this.#height;
    this.#describe(spot);
    this.#draw();
  }

  /** The first callee; the box itself if it has none. */
  #below(spot: Spot): Spot {
    const at = this.#rows[spot.row + 1]?.parents.indexOf(this.#rows[spot.row].nodes[spot.at]) ?? -1;
    return at < 0 ? spot : { row: spot.row + 1, at };
  }

  #above({ at, row }: Spot): Spot {
    if (row === 0) return { row, at };
    return { row: row - 1, at: Math.max(0, this.#rows[row - 1].nodes.indexOf(this.#rows[row].parents[at])) };
  }

  #scrollTo(row: number): void {
    const top = row * ROW_HEIGHT;
    const isSeen = top >= this.#scroller.scrollTop && top + 4 * ROW_HEIGHT <= this.#scroller.scrollTop + this.#height;
    if (!isSeen) this.#scroller.scrollTop = Math.max(0, top - ROWS_ABOVE * ROW_HEIGHT);
  }

  #describe(spot: Spot): void {
    this.#details.replaceChildren(...this.#linesOf(spot));
  }

  #linesOf(spot: Spot): HTMLElement[] {
    return describeBox(this.#state, this.#nodeAt(spot));
  }

  #nodeAt({ at, row }: Spot): number {
    return nodeOf(this.#state.graph, this.#rows[row], at);
  }
}
