import { describe, expect, test } from 'vitest';
import { PerfconvError } from '../../src/base/problems/errors.ts';
import type { Arguments } from '../../src/cli/command-line/arguments.ts';
import { COMMANDS, CONVERT, INFO } from '../../src/cli/command-line/commands.ts';
import { parseCommandLine, splitCommandLine } from '../../src/cli/command-line/parse.ts';
import { planWriting } from '../../src/cli/plans/writing.ts';
import { RECORD_TYPES } from '../../src/pipeline/choices.ts';

function argumentsOf(...words: string[]): Arguments {
  const request = parseCommandLine(words);
  if (typeof request === 'string' || !('command' in request)) throw new Error(`${words.join(' ')} asks for help or the version`);
  return request.args;
}

function refusalOf(...words: string[]): string {
  try {
    parseCommandLine(words);
  } catch (error) {
    if (error instanceof PerfconvError && error.code === 'usage') return error.message;
    throw error;
  }
  throw new Error(`${words.join(' ')} is taken`);
}

describe('values of options', () => {
  test.each([[['--fields', 'ip']], [['--fields=ip']], [['-F', 'ip']], [['-F=ip']], [['-Fip']], [['-qFip']]])('can be given as %j', (words) => {
    const args = argumentsOf(...words, 'web.data');
    expect(args.text('fields')).toBe('ip');
    expect(args.flag('quiet')).toBe(words[0].startsWith('-q'));
    expect(args.inputs).toEqual(['web.data']);
  });

  test('can look like options only if they are in the same word', () => {
    expect(argumentsOf('-F=-srcline').text('fields')).toBe('-srcline');
    expect(argumentsOf('--fields=-srcline').text('fields')).toBe('-srcline');
    expect(argumentsOf('--comm=--quiet').texts('comm')).toEqual(['--quiet']);
    expect(refusalOf('-F', '-srcline')).toBe('-F needs a value; if -srcline is meant, write -F=-srcline');
    expect(refusalOf('--output', '--quiet')).toBe('--output needs a value; if --quiet is meant, write --output=--quiet');
  });

  test('can be a dash or a negative number', () => {
    expect(argumentsOf('-o', '-', '-').texts('output')).toEqual(['-']);
    expect(argumentsOf('--time', '-5,3').text('time')).toBe('-5,3');
  });

  test('keep their order, whichever name of the option was used', () => {
    expect(argumentsOf('-o', 'a', '--output=b', 'in', '-o=c').texts('output')).toEqual(['a', 'b', 'c']);
  });

  test.each([['"quoted"'], ["'quoted'"], ['a=b'], ['=a'], ['./a.b=c'], ['007'], ['1e3'], ['two\nlines'], ['true'], [' ']])(
    'are taken literally: %j',
    (value) => {
      for (const words of [[`--output=${value}`], ['--output', value], [`-o=${value}`], ['-o', value], ['-qo', value]]) {
        expect(argumentsOf(...words).texts('output')).toEqual([value]);
      }
      if (!value.startsWith('=')) expect(argumentsOf(`-o${value}`, `-qo${value}`).texts('output')).toEqual([value, value]);
      expect(argumentsOf(value).inputs).toEqual([value]);
    },
  );

  test('are missing at the end or if they are empty', () => {
    expect(refusalOf('web.data', '--symfs')).toBe('--symfs needs a value');
    for (const words of [['--symfs='], ['-F='], ['--symfs', '']]) {
      const args = argumentsOf(...words);
      expect(() => [args.text('symfs'), args.text('fields')]).toThrow('needs a value');
    }
  });
});

describe('flags', () => {
  test('can be joined, and given twice', () => {
    const args = argumentsOf('-qv', '-q');
    expect([args.flag('quiet'), args.flag('verbose'), args.flag('strict')]).toEqual([true, true, false]);
  });

  test('do not take the next word as their value', () => {
    const args = argumentsOf('-q', 'true', '--strict', 'false');
    expect(args.inputs).toEqual(['true', 'false']);
    expect([args.flag('quiet'), args.flag('strict')]).toEqual([true, true]);
  });

  test('can have names that begin with no-', () => {
    const args = argumentsOf('--no-inline', '--no-progress', 'web.data');
    expect([args.flag('no-inline'), args.flag('no-progress'), args.flag('no-demangle')]).toEqual([true, true, false]);
  });

  test('take no value', () => {
    expect(refusalOf('--strict=no')).toBe('--strict=no: this option takes no value');
    expect(refusalOf('info', '-v', '-q=1')).toBe('-q=1: this option takes no value');
    expect(refusalOf('--strict=')).toBe('--strict=: this option takes no value');
  });
});

test('unknown options are refused, with a suggestion', () => {
  expect(refusalOf('--formatt', 'csv')).toBe('there is no option --formatt (did you mean --format?)');
  expect(refusalOf('-x')).toBe('there is no option -x');
  expect(refusalOf('-i', 'web.data')).toBe(
    'there is no option -i: inputs are given without an option, as in perfconv [convert] [INPUT…] [-t FORMAT] [-o OUTPUT]',
  );
  expect(refusalOf('--no-quiet')).toMatch(/^there is no option --no-quiet/);
  expect(refusalOf('--__proto__=x')).toMatch(/^there is no option --__proto__/);
  expect(refusalOf('--o', 'x')).toMatch(/^there is no option --o/);
  for (const [word, option] of [
    ['-q5', '-5'],
    ['-q-', '--'],
    ['-q.x', '-.'],
    ['-5', '-5'],
    ['---', '---'],
    ['--output.x', '--output.x'],
  ]) {
    expect(refusalOf(word, 'web.data')).toContain(`there is no option ${option}`);
  }
});

test('options of other commands are refused, naming those commands', () => {
  expect(refusalOf('report', '--format', 'pprof', 'x')).toBe('the command report has no option --format; convert has it');
  expect(refusalOf('info', '-t', 'csv')).toBe('the command info has no option -t; convert has it');
  expect(refusalOf('x', '--limit=3')).toBe('the command convert has no option --limit; report and diff have it');
  expect(refusalOf('x', '--json')).toBe('the command convert has no option --json; report, diff, info and dump have it');
  expect(refusalOf('completion', '-q')).toBe('the command completion has no option -q; convert, report, diff, view, info and dump have it');
  expect(refusalOf('dump', '--pid', '3')).toBe('the command dump has no option --pid; convert, report, diff and view have it');
});

test('words after -- are inputs', () => {
  expect(argumentsOf('-q', 'a', '--', '-v', '--help', '--').inputs).toEqual(['a', '-v', '--help', '--']);
  expect(argumentsOf('--', 'convert').inputs).toEqual(['convert']);
  expect(argumentsOf('--', 'help').inputs).toEqual(['help']);
  expect(argumentsOf('--', 'view').inputs).toEqual(['view']);
  expect(argumentsOf('info', 'view').inputs).toEqual(['view']);
});

test('an unknown option is refused even if it contains the letters of --help or --version', () => {
  expect(refusalOf('-t', 'folded', '-dash.data')).toBe('there is no option -d; if -dash.data is an input, write ./-dash.data');
  expect(refusalOf('-xh')).toBe('there is no option -x');
  expect(refusalOf('-xV')).toBe('there is no option -x');
  expect(parseCommandLine(['-F', '-srcline', '--help'])).toEqual({ helpOf: undefined });
});

test('help and version are shown whatever else is given', () => {
  for (const words of [['-h'], ['--help', '--bogus'], ['web.data', '-qh'], ['help']]) expect(parseCommandLine(words)).toEqual({ helpOf: undefined });
  for (const words of [
    ['info', '-h'],
    ['-v', 'info', '--help'],
    ['help', 'info'],
    ['info', 'help'],
  ])
    expect(parseCommandLine(words)).toEqual({ helpOf: INFO });
  expect(parseCommandLine(['convert', 'web.data', '--help'])).toEqual({ helpOf: CONVERT });
  expect(parseCommandLine(['info', '--version'])).toBe('version');
});

describe('a command after options', () => {
  test.each([
    [['-v', 'info', 'web.data']],
    [['-qv', 'info', 'web.data']],
    [['-qo', 'out', 'info', 'web.data']],
    [['-qvo', 'out', 'info', 'web.data']],
    [['-oout', 'info', 'web.data']],
    [['--output', 'out', 'info', 'web.data']],
    [['--output=out', 'info', 'web.data']],
  ])('is found in %j', (words) => {
    expect(splitCommandLine(words)).toMatchObject({ command: INFO, words: ['web.data'] });
  });

  test('is not found if its name is the value of an option', () => {
    expect(splitCommandLine(['-qo', 'info', 'web.data'])).toMatchObject({ command: undefined, words: ['web.data'] });
    expect(splitCommandLine(['-F', 'info'])).toMatchObject({ command: undefined, words: [] });
  });
});

test('options of the same name are alike in all commands, as parsing requires', () => {
  const kinds = new Map<string, string>();
  for (const { name, alias, value } of COMMANDS.flatMap(({ options }) => options)) {
    const kind = `${alias ?? ''} ${value === undefined ? 'flag' : 'valued'}`;
    expect([name, kinds.get(name) ?? kind]).toEqual([name, kind]);
    kinds.set(name, kind);
  }
});

describe("an option of perf's that does not exist here", () => {
  test('is refused with what does its work', () => {
    expect(refusalOf('-C', '0')).toBe("there is no option -C; for perf's, give --cpu");
    expect(refusalOf('--comms', 'app')).toBe("there is no option --comms; for perf's, give --comm");
    expect(refusalOf('report', '-g')).toBe("there is no option -g; for perf's, give perfconv report --tree");
    expect(refusalOf('-D')).toBe("there is no option -D; for perf's, give perfconv dump");
  });

  test('is replaced by what the option of the same command of perf does: its letters differ', () => {
    expect(refusalOf('diff', '-C', 'app')).toBe("there is no option -C; for perf's, give --comm");
    expect(refusalOf('diff', '-c', 'ratio')).toBe('there is no option -c');
    expect(refusalOf('report', '-c', 'app')).toBe("there is no option -c; for perf's, give --comm");
    expect(refusalOf('view', '-C', '0')).toBe("there is no option -C; for perf's, give --cpu");
    expect(refusalOf('-G')).toBe("there is no option -G; for perf's, give --max-stack 1");
    expect(refusalOf('report', '-G')).toBe("there is no option -G; for perf's, give perfconv report --tree");
    expect(refusalOf('report', '-d', 'app')).toMatch(/^there is no option -d; no option chooses functions or binaries/);
    expect(refusalOf('-d')).toBe('there is no option -d');
    expect(refusalOf('-g', 'python')).toBe('there is no option -g');
  });

  test('is refused with a reason where none is needed, or none does the same', () => {
    const counts = 'perfconv report prints periods and numbers of samples anyway';
    expect(refusalOf('report', '--stdio')).toBe('there is no option --stdio; perfconv report prints text anyway');
    expect(refusalOf('report', '--no-children')).toBe('there is no option --no-children; perfconv report counts so unless --children is given');
    expect(['-n', '--show-nr-samples', '--show-total-period'].map((given) => refusalOf('report', given).split('; ')[1])).toEqual([counts, counts, counts]);
    for (const given of ['-S', '--symbols', '--dsos']) {
      expect(refusalOf(given, 'main')).toBe(
        `there is no option ${given}; no option chooses functions or binaries: choose lines of perfconv -t folded -o - with grep`,
      );
    }
  });

  test('is not replaced by one that the command lacks, nor by the command itself', () => {
    expect(refusalOf('info', '-C', '0')).toBe('there is no option -C');
    expect(refusalOf('info', '--hide-call-graph')).toBe('there is no option --hide-call-graph');
    expect(refusalOf('info', '--header')).toBe('there is no option --header');
    expect(refusalOf('info', '--dump-raw-trace')).toBe("there is no option --dump-raw-trace; for perf's, give perfconv dump");
    expect(refusalOf('--toString')).toBe('there is no option --toString');
  });

  test.each(['task', 'mmap', 'switch', 'lost', 'namespace', 'cgroup', 'bpf', 'text-poke'])('leads to records that exist: --show-%s-events', (kind) => {
    const [, types] = /; for perf's, give perfconv dump --type ([A-Z0-9_,]+)$/.exec(refusalOf(`--show-${kind}-events`)) ?? [];
    expect(RECORD_TYPES).toEqual(expect.arrayContaining(types.split(',')));
  });
});

test('fields can be given for events of one type, several times', () => {
  expect(planWriting(argumentsOf('-F', 'comm,tid', '-Fsw:-cpu,-period', '-F', 'trace:')).fields).toEqual([
    { fields: ['comm', 'tid'] },
    { type: 'sw', fields: ['-cpu', '-period'] },
    { type: 'trace', fields: [] },
  ]);
  expect(planWriting(argumentsOf()).fields).toBeUndefined();
});
