import { byId } from '../view/dom.ts';
import type { ChosenOptions } from './messages.ts';

/** What one may choose about how recordings are read. */
export class OptionsForm {
  readonly #form = byId<HTMLFormElement>('options');

  /** @param onApply called when the user wants recordings read with what is chosen */
  constructor(onApply: () => void) {
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      onApply();
    });
  }

  chosen(): ChosenOptions {
    const [event, comm, time] = [this.#text('event'), this.#list('comm', /,/), this.#text('time')];
    const [pid, tid] = [this.#list('pid', /[,\s]+/).map(Number), this.#list('tid', /[,\s]+/).map(Number)];
    const truncated = this.#text('truncated') as NonNullable<ChosenOptions['truncated']>;
    return {
      ...(event !== '' && { event }),
      ...(pid.length > 0 && { pid }),
      ...(tid.length > 0 && { tid }),
      ...(comm.length > 0 && { comm }),
      ...(time !== '' && { time }),
      ...(truncated !== 'mark' && { truncated }),
      ...(!this.#isOn('inlines') && { inlines: false }),
      ...(!this.#isOn('demangle') && { demangle: 'none' }),
      ...(this.#isOn('offCpu') && { offCpu: true }),
    };
  }

  /** Offers names of events. */
  offer(events: readonly string[]): void {
    byId('events').replaceChildren(...events.map((name) => new Option(name, name)));
  }

  #text(name: string): string {
    return this.#field(name).value.trim();
  }

  #list(name: string, separator: RegExp): string[] {
    return this.#text(name)
      .split(separator)
      .map((one) => one.trim())
      .filter((one) => one !== '');
  }

  #isOn(name: string): boolean {
    return this.#field(name).checked;
  }

  #field(name: string): HTMLInputElement {
    return this.#form.elements.namedItem(name) as HTMLInputElement;
  }
}
