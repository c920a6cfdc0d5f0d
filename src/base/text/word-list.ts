/** `a`, `a and b`, `a, b and c`. @param max of more words, the first ones are listed: `a, b and 7 others` */
export function wordList(words: readonly string[], max = Number.POSITIVE_INFINITY): string {
  const others = words.length - max;
  const listed = others > 0 ? [...words.slice(0, max), `${others} ${others === 1 ? 'other' : 'others'}`] : words;
  if (listed.length < 2) return listed.join('');
  return `${listed.slice(0, -1).join(', ')} and ${listed[listed.length - 1]}`;
}

/** `a`, `a, b`; of more words than `max`, the first ones: `a, b and 7 others`. */
export function commaList(words: readonly string[], max: number): string {
  return words.length > max ? wordList(words, max) : words.join(', ');
}
