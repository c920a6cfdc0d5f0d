/** Characters that take two columns on a terminal. Source: Unicode Standard Annex #11, East Asian Width W and F, the large blocks. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
/** Characters that are drawn over the one before them. */
const COMBINING = /[\p{Mn}\p{Me}]/u;
const ASCII = /^[\x20-\x7e]*$/;

/** How many columns of a terminal a text takes that is `printable`. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

function characterWidth(character: string): number {
  if (COMBINING.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Fills a text up with blanks; a wider one stays as it is. */
export function padDisplay(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

/**
 * A printable text that takes at most `width` columns: from a wider one, the middle is left out, since functions with long names differ at their ends.
 * @param headShare how much of what remains is from its beginning
 */
export function cutMiddle(text: string, width: number, headShare = 0.5): string {
  if (displayWidth(text) <= width) return text;
  const characters = [...text];
  const headWidth = Math.floor((width - 1) * headShare);
  const head = prefixLength(characters, headWidth);
  const tail = prefixLength(characters.slice().reverse(), width - 1 - headWidth);
  return `${characters.slice(0, head).join('')}…${characters.slice(characters.length - tail).join('')}`;
}

/** How many characters fit into a width. */
function prefixLength(characters: readonly string[], width: number): number {
  let left = width;
  const end = characters.findIndex((character) => {
    left -= characterWidth(character);
    return left < 0;
  });
  return end < 0 ? characters.length : end;
}
