/** A command that a page shows in a block of `sh` or `console`. */
export interface DocCommand {
  readonly command: string;
  /** Its standard output on the page; absent in blocks of `sh`. A last line `…` stands for any further lines. */
  readonly output?: readonly string[];
}

/** The commands in the fenced blocks of a Markdown page, in order. */
export function commandsOf(markdown: string): DocCommand[] {
  return [...markdown.matchAll(/^```(sh|console)\n([\s\S]*?)^```$/gm)].flatMap(([, language, text]) => {
    const lines = text.trimEnd().split('\n');
    if (language === 'sh') return lines.map(withoutComment).flatMap((command) => (command === '' ? [] : [{ command }]));
    const starts = lines.flatMap((line, index) => (line.startsWith('$ ') ? [index] : []));
    return starts.map((start, nr) => ({ command: lines[start].slice(2), output: lines.slice(start + 1, starts[nr + 1]) }));
  });
}

function withoutComment(line: string): string {
  return line.replace(/(?:^|\s+)# .*$/, '').trim();
}

/** One program of a command line, with its arguments. */
export interface Call {
  readonly program: string;
  readonly args: readonly string[];
  /** Whether it reads what the program before it prints. */
  readonly isPiped: boolean;
}

/**
 * The programs that a line of shell starts, in order. It knows pipes, lists, process and command substitution, quotes, and redirections
 * of standard output, which it drops. `npx` is dropped as well.
 */
export function callsOf(command: string): Call[] {
  const calls: Call[] = [];
  let words: string[] = [];
  let isPiped = false;
  const end = (pipesOn: boolean) => {
    const [program, ...args] = words[0] === 'npx' ? words.slice(1) : words;
    if (program !== undefined) calls.push({ program, args, isPiped });
    words = [];
    isPiped = pipesOn;
  };
  const tokens = command.replaceAll(/\$\([^)]*\)/g, '1').matchAll(/\s*(\|\||&&|<\(|[|;)]|>\s*\S+|(?:"[^"]*"|'[^']*'|[^\s|;&)"'])+)/g);
  for (const [, token] of tokens) {
    if (token.startsWith('>')) continue;
    if (['|', '||', '&&', ';', '<(', ')'].includes(token)) end(token === '|');
    else words.push(token.replaceAll(/["']/g, ''));
  }
  end(false);
  return calls;
}
