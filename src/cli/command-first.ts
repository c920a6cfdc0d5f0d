import { COMMANDS, type OptionSpec } from './options.ts';

/** By the words that name them: `--format`, `-t`. A command's own come last, so that none hides one of convert's. */
const OPTIONS: ReadonlyMap<string, OptionSpec> = new Map(
  COMMANDS.toReversed().flatMap(({ options }) =>
    options.flatMap((option): [string, OptionSpec][] => [
      [`--${option.name}`, option],
      ...(option.alias === undefined ? [] : ([[`-${option.alias}`, option]] as [string, OptionSpec][])),
    ]),
  ),
);

/** Place of the first word that is neither an option nor an option's value; −1 when there is none, or only behind `--`. */
export function firstWordIndex(args: readonly string[]): number {
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === '--') return -1;
    if (!word.startsWith('-') || word === '-') return at;
    if (isValueNext(word)) at++;
  }
  return -1;
}

/** Whether an option's value is the next word: `--time`, `-o`, `-qo`, but not `--time=1,2` and `-ofile`. */
function isValueNext(word: string): boolean {
  if (word.startsWith('--')) return OPTIONS.get(word)?.value !== undefined;
  const letters = [...word.slice(1)];
  const taker = letters.findIndex((letter) => OPTIONS.get(`-${letter}`)?.value !== undefined);
  return taker >= 0 && taker === letters.length - 1;
}

/** The command line with its command in front: `-v info web.data` means `info -v web.data`. */
export function commandFirst(args: readonly string[]): string[] {
  const at = firstWordIndex(args);
  const isCommand = COMMANDS.some(({ name }) => name === args[at]);
  return isCommand ? [args[at], ...args.slice(0, at), ...args.slice(at + 1)] : [...args];
}
