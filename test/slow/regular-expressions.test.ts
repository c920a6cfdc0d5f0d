import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, it } from 'vitest';
import { CountingRegExp } from '../support/counting-regexp.ts';

/**
 * Names of files, functions, events and threads come from whoever wrote the recording, and may have 64 KB and more. An expression that starts
 * again at each of their characters takes minutes for a megabyte, in which the program does not react to signals. So the number of steps that
 * an expression in src/ takes must be proportional to the length of the text, whatever that is.
 */
const SRC = fileURLToPath(new URL('../../src', import.meta.url));

/** Repetitions in the shorter of two hostile texts, which has at least as many characters; the other has twice as many. */
const LENGTH = 60;
const REPEATS = 6;
/** A linear expression takes twice as many steps for twice the text, or fewer because of parts that do not grow. */
const MAX_RATIO = 2.2;
/** More steps than any linear expression takes for some hundred characters. */
const MAX_STEPS = 300_000;

interface Found {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

function expressionsOf(file: string): Found[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  const found: Found[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('type' in node && node.type === 'Literal' && 'regex' in node && 'start' in node) {
      const { pattern, flags } = node.regex as { pattern: string; flags: string };
      const line = text.slice(0, Number(node.start)).split('\n').length;
      found.push({ place: `${file.split(sep).join('/')}:${line}`, source: pattern, flags });
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseAst(text, { lang: 'ts' }));
  return found;
}

/** Texts that repeat what an expression matches, after what it matches before that, and end in what it does not match. */
function* hostileTexts({ parts, strangers }: CountingRegExp): Generator<(times: number) => string> {
  const befores = [...new Set(['', ...parts.map(({ before }) => before)])];
  const texts = [...new Set(parts.map(({ text }) => text))];
  const singles = texts.filter((text) => text.length === 1).slice(0, 10);
  const pumps = new Set([...texts, ...singles.flatMap((a) => singles.map((b) => a + b))]);
  const ends = new Set(['', '\0', '\n', ...strangers]);
  for (const before of befores)
    for (const pump of pumps) for (const end of ends) yield (times) => before + pump.repeat(times * Math.max(REPEATS, Math.ceil(LENGTH / pump.length))) + end;
}

/** A text for which the expression takes too many steps; undefined if there is none. */
function findHostileText({ source, flags }: Pick<Found, 'source' | 'flags'>): string | undefined {
  const expression = new CountingRegExp(source, flags, MAX_STEPS);
  for (const text of hostileTexts(expression)) {
    const short = expression.steps(text(1));
    const long = expression.steps(text(2));
    if (long === Number.POSITIVE_INFINITY || long > MAX_RATIO * short) return text(1);
  }
  return undefined;
}

describe('regular expressions', () => {
  const found = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap(expressionsOf);

  it.each([
    ['([^/]+)\\.ko$', ''],
    ['\\s+$', ''],
    ['^(a+)+$', ''],
    ['x*y', 'g'],
    ['[^/]*$', ''],
  ])('are recognized if they are not linear: /%s/%s', (source, flags) => {
    expect(findHostileText({ source, flags })).toBeDefined();
  });

  it('are all found in src/, and none is made at run time', () => {
    expect(found.length).toBeGreaterThan(50);
    const made = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.ts') && /\bRegExp\(/.test(readFileSync(join(SRC, path), 'utf8')),
    );
    expect(made).toEqual([]);
  });

  it('take a number of steps in proportion to the text, whatever it is', () => {
    const hostile = found.flatMap((one) => {
      const text = findHostileText(one);
      return text === undefined ? [] : [`${one.place} /${one.source}/${one.flags} ${JSON.stringify(text)}`];
    });
    expect(hostile).toEqual([]);
  });
});
