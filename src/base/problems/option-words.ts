/**
 * How messages name an option of perfconv, so that their reader can give it.
 * @param option its name in the library
 * @param value what it is given, `DIR` or `drop`; absent where the option alone is meant
 */
export type OptionWords = (option: string, value?: string) => string;

/** For users of the library: `{ symfs: 'DIR' }`, `option offCpu`. */
export const LIBRARY_OPTIONS: OptionWords = (option, value) => (value === undefined ? `option ${option}` : `{ ${option}: '${value}' }`);

/** For users of the command line: `--symfs DIR`, `--off-cpu`. */
export const COMMAND_LINE_OPTIONS: OptionWords = (option, value) => {
  const name = option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return value === undefined ? `--${name}` : `--${name} ${value}`;
};
