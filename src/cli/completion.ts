import { PerfconvError } from '../errors.ts';
import { didYouMean } from './did-you-mean.ts';
import { COMMANDS, CONVERT, type OptionSpec } from './options.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** They call the program with `--get-completions` and the command line's words up to the cursor. */
const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: `_perfconv() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(perfconv --get-completions "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _perfconv perfconv
`,
  zsh: `#compdef perfconv
_perfconv() {
  local -a candidates
  candidates=("\${(@f)$(perfconv --get-completions "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  candidates=(\${candidates:#})
  compadd -a candidates
  _files
}
compdef _perfconv perfconv
`,
  fish: `complete -c perfconv -a '(perfconv --get-completions (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
};

/**
 * A script that makes a shell complete this program's words.
 * @param shell by default the one that `env.SHELL` names
 * @throws PerfconvError `usage`
 */
export function completionScript(shell: string | undefined, env: Readonly<Record<string, string | undefined>>): string {
  const name = shell ?? env.SHELL?.split('/').at(-1) ?? 'bash';
  const known = SHELLS.find((candidate) => candidate === name);
  if (known !== undefined) return SCRIPTS[known];
  if (shell === undefined) return SCRIPTS.bash;
  throw new PerfconvError('usage', `there is no completion for ${shell}${didYouMean(shell, SHELLS) || `; there is for ${SHELLS.join(', ')}`}`);
}

/**
 * The words that can stand where the cursor is; none where a file name is expected.
 * @param words behind the program's name; the last one is being typed
 */
export function completions(words: readonly string[]): string[] {
  const typed = words.at(-1) ?? '';
  const command = COMMANDS.find(({ name }) => name === words.find((word) => !word.startsWith('-'))) ?? CONVERT;
  const before = command.options.find(({ name, alias }) => words.at(-2) === `--${name}` || (alias !== undefined && words.at(-2) === `-${alias}`));
  let candidates: string[];
  if (before?.value !== undefined) candidates = valuesOf(before, typed);
  else if (typed.startsWith('-')) candidates = [...command.options.map(({ name }) => `--${name}`), '--help', '--version'];
  else if (words.length <= 1) candidates = COMMANDS.map(({ name }) => name);
  else if (command.name === 'completion') candidates = [...SHELLS];
  else candidates = [];
  return candidates.filter((candidate) => candidate.startsWith(typed));
}

/** An option's choices; in a list, behind what stands before the last comma. */
function valuesOf({ choices = [], isList = false }: OptionSpec, typed: string): string[] {
  const done = isList ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
  return choices.map((choice) => done + choice);
}
