/**
 * Letters of scripts that are written from right to left: the blocks whose unassigned code points are R or AL, too.
 * Source: Unicode Character Database, DerivedBidiClass.txt, "@missing".
 */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** Whatever has a direction of its own: letters, and the mark that {@link closed} adds. */
const STRONG = /[\p{L}\u200e]/gu;
const LEFT_TO_RIGHT_MARK = '\u200e';

/**
 * Whether all letters of a name are written from right to left. Names that have others, too, are shown from left to right as source code is:
 * `ns::name(int)` must not become `(int)name::ns`.
 */
export function isRightToLeft(name: string): boolean {
  return RIGHT_TO_LEFT.test(name) && (name.match(STRONG) ?? []).every((letter) => RIGHT_TO_LEFT.test(letter));
}

/** A name that numbers follow: they would be shown before its last letters if these are written from right to left. */
export function closed(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? `${name}${LEFT_TO_RIGHT_MARK}` : name;
}

/** Whether the last letter of a text is written from right to left. */
export function endsRightToLeft(text: string): boolean {
  const last = text.match(STRONG)?.at(-1);
  return last !== undefined && RIGHT_TO_LEFT.test(last);
}
