import { type Category, categoryOf } from '../model/categories.ts';
import type { CodeFunction } from '../model/recording.ts';
import type { GraphColors } from './look.ts';

/** A color by its hue, saturation and lightness on a light page and on a dark one. */
interface Palette {
  readonly hue: number;
  /** By how much the hue differs at most among binaries. */
  readonly hues: number;
  readonly saturation: number;
  readonly light: number;
  readonly dark: number;
}

const PALETTES: Readonly<Record<Category, Palette>> = {
  user: { hue: 22, hues: 32, saturation: 88, light: 72, dark: 33 },
  inlined: { hue: 186, hues: 0, saturation: 52, light: 74, dark: 29 },
  jit: { hue: 112, hues: 0, saturation: 46, light: 71, dark: 28 },
  kernel: { hue: 258, hues: 0, saturation: 62, light: 81, dark: 42 },
  unknown: { hue: 220, hues: 0, saturation: 6, light: 78, dark: 36 },
  group: { hue: 222, hues: 0, saturation: 14, light: 84, dark: 30 },
  mark: { hue: 345, hues: 0, saturation: 60, light: 86, dark: 36 },
};

/** How much lighter a function may be than others of its kind, so that neighbors can be told apart. */
const SHADES = 9;

/** Red for what has grown and blue for what has shrunk, which also those can tell apart who do not see green. */
const INCREASE_HUE = 8;
const DECREASE_HUE = 214;
const CHANGE_STEPS = 6;

/** The colors of functions. The same function always has the same one. */
export class Colors implements GraphColors {
  readonly #isDark = matchMedia('screen and (prefers-color-scheme: dark)');
  /** Of functions that were called and of those that were inlined. By object: when stacks are grouped in another way, other groups get the indexes of these. */
  #called = new WeakMap<CodeFunction, string>();
  #inlined = new WeakMap<CodeFunction, string>();

  /** @param onChange called when the page becomes light or dark */
  constructor(onChange: () => void) {
    this.#isDark.addEventListener('change', () => {
      this.#called = new WeakMap();
      this.#inlined = new WeakMap();
      onChange();
    });
  }

  get text(): string {
    return this.#isDark.matches ? '#ffffff' : '#1b1b1f';
  }

  get page(): string {
    return this.#isDark.matches ? '#17181c' : '#ffffff';
  }

  get outline(): string {
    return this.#isDark.matches ? '#ffffff' : '#000000';
  }

  get plain(): string {
    return this.#isDark.matches ? '#3d404a' : '#dcdce2';
  }

  get match(): { readonly fill: string; readonly text: string } {
    return this.#isDark.matches ? { fill: hexOf(315, 75, 66), text: '#1b1b1f' } : { fill: hexOf(315, 78, 38), text: '#ffffff' };
  }

  fill(one: CodeFunction, inlined: boolean): string {
    const fills = inlined ? this.#inlined : this.#called;
    let fill = fills.get(one);
    if (fill === undefined) {
      fill = this.#mix(PALETTES[categoryOf(one, inlined)], hash(one.binary), hash(one.name));
      fills.set(one, fill);
    }
    return fill;
  }

  change(relative: number): string {
    const hue = relative < 0 ? DECREASE_HUE : INCREASE_HUE;
    // In steps, so that about the same is gray; even a small one can be seen.
    const step = (Math.round(Math.abs(relative) * CHANGE_STEPS) / CHANGE_STEPS) ** 0.7;
    return this.#isDark.matches ? hexOf(hue, 6 + 59 * step, 28 + 10 * step) : hexOf(hue, 6 + 84 * step, 89 - 21 * step);
  }

  category(category: Category): string {
    const palette = PALETTES[category];
    return this.#mix(palette, palette.hues >> 1, SHADES >> 1);
  }

  #mix({ dark, hue, hues, light, saturation }: Palette, ofBinary: number, ofName: number): string {
    const shade = ofName % SHADES;
    const isDark = this.#isDark.matches;
    return hexOf(hue + (ofBinary % (hues + 1)), isDark ? saturation * 0.6 : saturation, isDark ? dark - (shade >> 1) : light + shade);
  }
}

/** A color by hue (degrees), saturation and lightness (percent), as every program that shows pictures reads it. Source: CSS Color 4, "HSL to sRGB". */
function hexOf(hue: number, saturation: number, lightness: number): string {
  const [share, light] = [saturation / 100, lightness / 100];
  const channel = (nth: number): string => {
    const place = (nth + hue / 30) % 12;
    const value = light - share * Math.min(light, 1 - light) * Math.max(-1, Math.min(place - 3, 9 - place, 1));
    return Math.round(255 * value)
      .toString(16)
      .padStart(2, '0');
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return (value >>> 8) & 0xffff;
}
