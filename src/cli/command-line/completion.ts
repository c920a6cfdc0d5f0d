import { PerfconvError } from '../../base/problems/errors.ts';
import { COMMANDS, CONVERT } from './commands.ts';
import { didYouMean } from './did-you-mean.ts';
import { COMMON_OPTIONS, type OptionSpec } from './options.ts';
import { type ParsedLine, splitCommandLine } from './parse.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

const HELP = 'help';
const COMMAND_WORDS = [...COMMANDS.map(({ name }) => name), HELP];

/**
 * Each script calls the program with `--get-completions` and the words of the command line up to the cursor. The program prints only candidates that begin like
 * the last word. bash's compgen is not used to filter them, because it expands what is typed. Wherever a command fits, so does a file.
 *
 * yargs could generate scripts, too, but its candidates include no lists (`--sort dso,c`) and no values after `=`, and
 * its script needs bash 4.
 */
const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: `_perfconv() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(perfconv --get-completions "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case "\${COMPREPLY[0]-}" in
    ${COMMAND_WORDS.join(' | ')})
      compopt -o filenames 2>/dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")
      ;;
  esac
}
complete -o default -F _perfconv perfconv
`,
  // compdef exists once compinit has run, which may not have happened yet in a ~/.zshrc.
  zsh: `#compdef perfconv
_perfconv() {
  local -a candidates
  candidates=("\${(@f)$(perfconv --get-completions "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  candidates=(\${candidates:#})
  compadd -a candidates
  _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i -D }
compdef _perfconv perfconv
`,
  fish: `complete -c perfconv -a '(perfconv --get-completions (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
};

/**
 * A script that teaches a shell to complete the command line of this program.
 * @param shell by default the one that `env.SHELL` names
 * @throws PerfconvError `usage`
 */
export function completionScript(shell: string | undefined, env: Readonly<Record<string, string | undefined>>): string {
  const name = shell ?? env.SHELL?.split('/').at(-1) ?? 'bash';
  const known = SHELLS.find((candidate) => candidate === name);
  if (known !== undefined) return SCRIPTS[known];
  if (shell === undefined) return SCRIPTS.bash;
  throw new PerfconvError('usage', `there is no completion for ${shell}${didYouMean(shell, SHELLS) || `, only for ${SHELLS.join(', ')}`}`);
}

/**
 * The candidates for the word at the cursor; none if a file name is expected.
 * @param words the words after the program's name; the last one is being typed
 */
export function completions(words: readonly string[]): string[] {
  const joined = joinedValue(words);
  const typed = joined?.typed ?? words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const line = splitCommandLine(before);
  const { options } = line.command ?? CONVERT;
  const valued = optionOf(joined?.option ?? before.at(-1) ?? '', options);
  if (valued?.value !== undefined) return beginning(typed, valuesOf(valued, typed)).map((value) => (joined?.prefix ?? '') + value);
  if (joined !== undefined || before.includes('--')) return [];
  if (typed.startsWith('-'))
    return beginning(
      typed,
      [...options, ...COMMON_OPTIONS].map(({ name }) => `--${name}`),
    );
  return beginning(typed, wordsAfter(line));
}

/** The candidates that are not options: commands, unless there is a word already. */
function wordsAfter({ command, words }: ParsedLine): readonly string[] {
  if (command?.name === 'completion') return SHELLS;
  if (command !== undefined || words.length > 1) return [];
  if (words.length === 0) return COMMAND_WORDS;
  return words[0] === HELP ? COMMANDS.map(({ name }) => name) : [];
}

/**
 * A value that is typed in one word with its option, `--format=pp`: what is typed of it, and what precedes the value in
 * the word. bash splits such a word at the equals sign, and wants only the value.
 */
function joinedValue(words: readonly string[]): { option: string; typed: string; prefix: string } | undefined {
  const [last = '', second = '', third = ''] = words.slice(-3).reverse();
  if (second === '=' && third.startsWith('-')) return { option: third, typed: last, prefix: '' };
  if (last === '=' && second.startsWith('-')) return { option: second, typed: '', prefix: '' };
  const [prefix, option] = /^(-[^=]+)=/.exec(last) ?? [];
  return option === undefined || prefix === undefined ? undefined : { option, typed: last.slice(prefix.length), prefix };
}

function optionOf(word: string, options: readonly OptionSpec[]): OptionSpec | undefined {
  return options.find(({ name, alias }) => word === `--${name}` || (alias !== undefined && word === `-${alias}`));
}

/** An option's choices; in a list, each after the entries that were already typed, without these. */
function valuesOf({ choices = [], isList = false }: OptionSpec, typed: string): string[] {
  const done = isList ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
  const chosen = done.split(',');
  return choices.filter((choice) => !chosen.includes(choice)).map((choice) => done + choice);
}

function beginning(typed: string, candidates: readonly string[]): string[] {
  return candidates.filter((candidate) => candidate.startsWith(typed));
}
