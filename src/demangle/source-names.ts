/** The C++ operators with brackets. If one begins with another, it comes first. */
const OPERATORS = ['()', '[]', '<=>', '<<=', '<<', '<=', '<', '>>=', '>>', '>=', '>', '->*', '->'];
const OPERATOR = 'operator';
/** What may follow the parameter list of a function inside a name. */
const QUALIFIERS = [' const', ' volatile', ' &&', ' &', ' noexcept'];

const OPENING = '<({[';
const CLOSING = '>)}]';

/**
 * Shortens a source name with its scopes to what the style `simple` leaves of a demangled name: no template arguments, and no parameters of enclosing
 * functions. `std::sort<int*, app::run(int)::Less>` becomes `std::sort`, `app::run(std::vector<int>&) const::{lambda(int)}::operator()<int>` becomes
 * `app::run()::{lambda(int)}::operator()`. From a bracket without a match on, the name is left as it is.
 */
export function simplifySourceName(name: string): string {
  if (!name.includes('<') && !name.includes('(')) return name;
  let kept = '';
  let at = 0;
  while (at < name.length) {
    const next = nextOfInterest(name, at);
    kept += name.slice(at, next);
    at = next;
    if (at === name.length) break;
    if (name[at] === 'o') {
      const end = endOfOperator(name, at);
      kept += name.slice(at, end);
      at = end;
      continue;
    }
    const end = endOfGroup(name, at);
    if (end < 0) return kept + name.slice(at);
    // `(anonymous namespace)`, `<lambda(int)>`, `<impl Trait for Type>`: names of their own.
    if (name[at] === '{' || name[at] === '[' || isAtStartOfPart(kept)) kept += name.slice(at, end);
    else kept = name[at] === '(' ? `${kept}()` : kept.trimEnd();
    at = name[at] === '(' ? endOfQualifiers(name, end) : end;
  }
  return kept;
}

/** A type's or function's name from debug information, in the words of demanglers: gcc calls a lambda's type `<lambda(int)>`. */
export function inDemanglerTerms(name: string): string {
  return name.startsWith('<lambda') && name.endsWith('>') ? `{${name.slice(1, -1)}}` : name;
}

/** Where the next bracket opens or the word `operator` begins. */
function nextOfInterest(name: string, from: number): number {
  for (let at = from; at < name.length; at++) {
    if (OPENING.includes(name[at])) return at;
    if (isOperator(name, at)) return at;
  }
  return name.length;
}

function isOperator(name: string, at: number): boolean {
  return name[at] === 'o' && !isInWord(name, at - 1) && name.startsWith(OPERATOR, at) && !isInWord(name, at + OPERATOR.length);
}

function isInWord(name: string, at: number): boolean {
  return at >= 0 && at < name.length && /[\w$\x80-\uffff]/.test(name[at]);
}

function endOfOperator(name: string, at: number): number {
  const from = at + OPERATOR.length;
  const end = from + (OPERATORS.find((one) => name.startsWith(one, from))?.length ?? 0);
  // clang writes no space in between: `operator<<int>` is the `<` of integers, `operator<<<int>` the shift operator.
  return end === from + 2 && name.startsWith('<<', from) && end < name.length && !' <(['.includes(name[end]) ? end - 1 : end;
}

/** The end of the group that a bracket opens; −1 if it is not closed. The arrow of a type closes nothing. */
function endOfGroup(name: string, from: number): number {
  const open: string[] = [];
  for (let at = from; at < name.length; at++) {
    if (isOperator(name, at)) {
      at = endOfOperator(name, at) - 1;
      continue;
    }
    const opening = OPENING.indexOf(name[at]);
    if (opening >= 0) {
      open.push(CLOSING[opening]);
      continue;
    }
    if (!CLOSING.includes(name[at]) || (name[at] === '>' && name[at - 1] === '-')) continue;
    // A `<` may be a comparison: the bracket around it closes both.
    while (open.length > 0 && open[open.length - 1] !== name[at]) open.pop();
    open.pop();
    if (open.length === 0) return at + 1;
  }
  return -1;
}

function endOfQualifiers(name: string, from: number): number {
  let end = from;
  for (let found: string | undefined = ''; found !== undefined; end += found?.length ?? 0) found = QUALIFIERS.find((one) => name.startsWith(one, end));
  return end;
}

function isAtStartOfPart(kept: string): boolean {
  return kept === '' || kept.endsWith('::');
}
