/**
 * A regular expression that counts its steps. It backtracks as V8's engine does, but without its shortcuts, so that what is linear here is
 * linear there. It knows the syntax that the expressions of this project use, and throws for anything else.
 */
export class CountingRegExp {
  /** Strings that parts of the expression match, shortest first, with what comes before each: hostile texts are made of them. */
  readonly parts: readonly { readonly before: string; readonly text: string }[];
  /** For each of its characters, one that does not match there. */
  readonly strangers: ReadonlySet<string>;
  readonly #root: Node;
  readonly #isSticky: boolean;
  readonly #isMultiline: boolean;
  readonly #maxSteps: number;
  #steps = 0;

  /** @param maxSteps when to give up: {@link steps} is Infinity then */
  constructor(source: string, flags: string, maxSteps: number) {
    this.#root = new Parser(source, flags).parse();
    this.#isSticky = flags.includes('y');
    this.#isMultiline = flags.includes('m');
    this.#maxSteps = maxSteps;
    const parts = new Map<string, { before: string; text: string }>();
    collectParts(this.#root, '', (before, text) => {
      if (text !== '') parts.set(`${before}\0${text}`, { before, text });
    });
    this.parts = [...parts.values()];
    this.strangers = new Set(charactersIn(this.#root).flatMap(({ stranger }) => stranger ?? []));
  }

  /** How many steps it takes to find all matches in a text, one after the other, as `replaceAll` and `split` do. */
  steps(text: string): number {
    this.#steps = 0;
    try {
      for (let from = 0; from <= text.length; ) {
        let end = -1;
        const isMatch = this.#match(this.#root, text, from, (at) => {
          end = at;
          return true;
        });
        if (!isMatch && this.#isSticky) break;
        from = end > from ? end : from + 1;
      }
    } catch (error) {
      if (error instanceof TooManySteps || error instanceof RangeError) return Number.POSITIVE_INFINITY;
      throw error;
    }
    return this.#steps;
  }

  #match(node: Node, text: string, at: number, next: (at: number) => boolean): boolean {
    if (++this.#steps > this.#maxSteps) throw new TooManySteps();
    switch (node.kind) {
      case 'character':
        return at < text.length && node.test(text[at]) && next(at + 1);
      case 'start':
        return (at === 0 || (this.#isMultiline && text[at - 1] === '\n')) && next(at);
      case 'end':
        return (at === text.length || (this.#isMultiline && text[at] === '\n')) && next(at);
      case 'boundary':
        return isWord(text[at - 1]) !== isWord(text[at]) && next(at);
      case 'sequence':
        return this.#matchSequence(node.nodes, 0, text, at, next);
      case 'choice':
        return node.nodes.some((one) => this.#match(one, text, at, next));
      case 'repeat':
        return this.#matchRepeat(node, 0, text, at, next);
      case 'look': {
        // A lookbehind is for one character, or for the start.
        const isThere = node.isBehind
          ? this.#match(node.node, text, at, (end) => end === at) || (at > 0 && this.#match(node.node, text, at - 1, (end) => end === at))
          : this.#match(node.node, text, at, () => true);
        return isThere !== node.isNegative && next(at);
      }
    }
  }

  #matchSequence(nodes: readonly Node[], index: number, text: string, at: number, next: (at: number) => boolean): boolean {
    return index === nodes.length ? next(at) : this.#match(nodes[index], text, at, (end) => this.#matchSequence(nodes, index + 1, text, end, next));
  }

  #matchRepeat(repeat: Repeat, count: number, text: string, at: number, next: (at: number) => boolean): boolean {
    const once = () =>
      count < repeat.max &&
      this.#match(repeat.node, text, at, (end) => (end > at || count < repeat.min) && this.#matchRepeat(repeat, count + 1, text, end, next));
    if (count < repeat.min) return once();
    return repeat.isLazy ? next(at) || once() : once() || next(at);
  }
}

class TooManySteps extends Error {}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /\w/.test(character);
}

type Node =
  | Character
  | { readonly kind: 'start' | 'end' | 'boundary' }
  | { readonly kind: 'sequence' | 'choice'; readonly nodes: readonly Node[] }
  | { readonly kind: 'look'; readonly node: Node; readonly isBehind: boolean; readonly isNegative: boolean }
  | Repeat;

interface Character {
  readonly kind: 'character';
  readonly test: (character: string) => boolean;
  /** Some characters that match. */
  readonly samples: readonly string[];
  /** One that does not match; undefined if all do. */
  readonly stranger: string | undefined;
}

interface Repeat {
  readonly kind: 'repeat';
  readonly node: Node;
  readonly min: number;
  readonly max: number;
  readonly isLazy: boolean;
}

/** The characters that are tried to find some that an expression matches. */
const CHARACTERS = [...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)), '\u00e9', '\u2028', '\udc80', '\udcff'];
const PREFERRED = ['a', '0', '/', '.', ' ', '_', 'Z', '-'];

class Parser {
  readonly #source: string;
  readonly #flags: string;
  #at = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags.replace(/[^iu]/g, '');
  }

  parse(): Node {
    const node = this.#choice();
    if (this.#at < this.#source.length) throw this.#unknown();
    return node;
  }

  #choice(): Node {
    const nodes = [this.#sequence()];
    while (this.#take('|')) nodes.push(this.#sequence());
    return nodes.length === 1 ? nodes[0] : { kind: 'choice', nodes };
  }

  #sequence(): Node {
    const nodes: Node[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at])) nodes.push(this.#term());
    return { kind: 'sequence', nodes };
  }

  #term(): Node {
    let node = this.#atom();
    const counts = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})/.exec(this.#source.slice(this.#at));
    if (counts === null) return node;
    const [sign, min, comma, max] = counts;
    this.#at += sign.length;
    const upTo = sign === '?' ? 1 : min === undefined || (comma !== '' && max === '') ? Number.POSITIVE_INFINITY : Number(max || min);
    node = { kind: 'repeat', node, min: min === undefined ? Number(sign === '+') : Number(min), max: upTo, isLazy: this.#take('?') };
    return node;
  }

  #atom(): Node {
    if (this.#take('^')) return { kind: 'start' };
    if (this.#take('$')) return { kind: 'end' };
    if (this.#take('\\b')) return { kind: 'boundary' };
    if (!this.#take('(')) return this.#character();
    const look = this.#take('?') ? ['<=', '<!', ':', '=', '!'].find((sign) => this.#take(sign)) : ':';
    if (look === undefined) throw this.#unknown();
    const node = this.#choice();
    if (!this.#take(')')) throw this.#unknown();
    return look === ':' ? node : { kind: 'look', node, isBehind: look.startsWith('<'), isNegative: look.endsWith('!') };
  }

  #character(): Node {
    const found = /^(?:\[(?:\\.|[^\]\\])*\]|\\[pP]\{\w+\}|\\x..|\\u....|\\c.|\\[^kbB1-9]|[^\\])/s.exec(this.#source.slice(this.#at));
    if (found === null) throw this.#unknown();
    const [text] = found;
    this.#at += text.length;
    const expression = new RegExp(`^(?:${text})$`, this.#flags);
    const known = new Map<string, boolean>();
    const test = (character: string): boolean => {
      let isTaken = known.get(character);
      if (isTaken === undefined) {
        isTaken = expression.test(character);
        known.set(character, isTaken);
      }
      return isTaken;
    };
    return {
      kind: 'character',
      test,
      samples: [...PREFERRED, ...CHARACTERS].filter(test).slice(0, 2),
      stranger: ['!', ...CHARACTERS].find((one) => !test(one)),
    };
  }

  #take(text: string): boolean {
    const isThere = this.#source.startsWith(text, this.#at);
    if (isThere) this.#at += text.length;
    return isThere;
  }

  #unknown(): Error {
    return new Error(`/${this.#source}/: what stands at ${this.#at} is not known to the tests' matcher`);
  }
}

/** The shortest text that a node matches. */
function shortest(node: Node): string {
  switch (node.kind) {
    case 'character':
      return node.samples[0] ?? '';
    case 'sequence':
      return node.nodes.map(shortest).join('');
    case 'choice':
      return node.nodes.map(shortest).sort((a, b) => a.length - b.length)[0];
    case 'repeat':
      return shortest(node.node).repeat(node.min);
    default:
      return '';
  }
}

/** Shows a text of each part and what comes before it. */
function collectParts(node: Node, before: string, show: (before: string, text: string) => void): void {
  if (node.kind === 'character') for (const sample of node.samples) show(before, sample);
  else show(before, shortest(node));
  if (node.kind === 'repeat') {
    show(before, shortest(node.node));
    collectParts(node.node, before, show);
  } else if (node.kind === 'look') {
    collectParts(node.node, before, show);
  } else if (node.kind === 'choice') {
    for (const one of node.nodes) collectParts(one, before, show);
  } else if (node.kind === 'sequence') {
    let prefix = before;
    for (const one of node.nodes) {
      collectParts(one, prefix, show);
      prefix += shortest(one);
    }
  }
}

function charactersIn(node: Node): Character[] {
  if (node.kind === 'character') return [node];
  if ('nodes' in node) return node.nodes.flatMap(charactersIn);
  return 'node' in node ? charactersIn(node.node) : [];
}
