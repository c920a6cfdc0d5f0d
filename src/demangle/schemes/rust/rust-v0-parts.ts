import { CHAR } from '../chars.ts';
import { RustV0Scanner } from './rust-v0-scanner.ts';

/**
 * Names that become longer than this, are nested more deeply, or take more work are left mangled. The longest of librustc_driver's becomes 10,000 characters.
 */
export const MAX_OUTPUT_LENGTH = 1 << 16;
const MAX_DEPTH = 500;
const MAX_STEPS = 1 << 15;
const MAX_BOUND_LIFETIMES = 1 << 8;

/**
 * The role in which a part of a name was read, so that references back to it can be printed in the same way: `a::b::<T>` is a path in an expression, `a::b<T>`
 * one in a type; constants that are expressions have braces among generic arguments. Roles are bits, since most parts are printed alike in several roles.
 */
export const TYPE = 1;
export const PATH_IN_TYPE = 2;
export const PATH_IN_VALUE = 4;
export const CONSTANT_ARGUMENT = 8;
export const CONSTANT_IN_VALUE = 16;
export const ANY_PATH = TYPE | PATH_IN_TYPE | PATH_IN_VALUE;
export const ANY_CONSTANT = CONSTANT_ARGUMENT | CONSTANT_IN_VALUE;
export type PathRole = typeof PATH_IN_TYPE | typeof PATH_IN_VALUE;
export type ConstantRole = typeof CONSTANT_ARGUMENT | typeof CONSTANT_IN_VALUE;
const ROLE_BITS = 5;

/** What all productions of RFC 2603's grammar share: lists, lifetimes, references back to earlier parts, and limits. */
export class RustV0Parts extends RustV0Scanner {
  #depth = 0;
  #steps = 0;
  /** Above 0 inside parts that are read but not shown, where references back are not followed. */
  protected hidden = 0;
  /** How many lifetimes the enclosing `for<…>` declare. */
  #boundLifetimes = 0;

  /** How the part that starts at a position was printed, if {@link #names} has this name's number there. */
  readonly #texts: string[] = [];
  readonly #names: number[] = [];
  /** The part's roles, and in the bits above them the number of lifetimes that are bound there. */
  readonly #contexts: number[] = [];
  #nameNumber = 0;

  /** Starts with the path of a name. */
  protected begin(name: string): void {
    this.symbol = name;
    this.position = 2;
    this.failed = false;
    this.#depth = this.#steps = this.hidden = this.#boundLifetimes = 0;
    this.#nameNumber++;
    while (this.#names.length < name.length) {
      this.#texts.push('');
      this.#names.push(0);
      this.#contexts.push(0);
    }
  }

  protected tuple(element: () => string): string {
    let count = 0;
    const elements = this.list(', ', () => {
      count++;
      return element();
    });
    return count === 1 ? `(${elements},)` : `(${elements})`;
  }

  /** Elements up to and including the `E` that ends them. */
  protected list(separator: string, element: () => string): string {
    let list = '';
    for (let count = 0; this.hasNext(list); count++) list += count === 0 ? element() : separator + element();
    return list;
  }

  /** Whether a list continues. Each element counts as a step of work: because of references, it may be read again at every level. */
  protected hasNext(list: string): boolean {
    if (list.length > MAX_OUTPUT_LENGTH || ++this.#steps > MAX_STEPS) this.fail();
    return !this.failed && !this.eat(CHAR.E);
  }

  /** `for<'a, 'b> `: the lifetimes are bound within `content`. */
  protected inBinder(content: (binder: string) => string): string {
    const count = this.tagged(CHAR.G);
    const outer = this.#boundLifetimes;
    if (outer + count > MAX_BOUND_LIFETIMES) return this.fail();
    const names: string[] = [];
    for (let i = 0; i < count; i++) {
      this.#boundLifetimes++;
      names.push(this.lifetime(1));
    }
    const text = content(count === 0 ? '' : `for<${names.join(', ')}> `);
    this.#boundLifetimes = outer;
    return text;
  }

  /** @param index 0 for an erased one; else counted outwards, from 1 for the innermost bound one */
  protected lifetime(index: number): string {
    if (index === 0) return "'_";
    const depth = this.#boundLifetimes - index;
    if (depth < 0) return this.fail();
    return depth < 26 ? `'${String.fromCharCode(CHAR.a + depth)}` : `'_${depth}`;
  }

  /** @returns the position that a reference points back to */
  protected backref(): number {
    const own = this.position - 1;
    const target = this.base62() + 2;
    if (target < own) return target;
    this.fail();
    return 0;
  }

  /** What was printed for a part; empty where nothing is shown; undefined if it was not printed, or not in this role. */
  protected known(target: number, role: number): string | undefined {
    if (this.hidden > 0) return '';
    return (this.rolesAt(target, 0) & role) === 0 ? undefined : this.#texts[target];
  }

  /** The roles that a part was printed in, with the lifetimes that are bound now; `otherwise` if it was not. */
  protected rolesAt(position: number, otherwise: number): number {
    const isCurrent = this.#names[position] === this.#nameNumber && this.#contexts[position] >> ROLE_BITS === this.#boundLifetimes;
    return isCurrent ? this.#contexts[position] & ((1 << ROLE_BITS) - 1) : otherwise;
  }

  /** Goes to a part that has to be read again. */
  protected follows(target: number): boolean {
    this.position = target;
    return !this.failed;
  }

  /** Counts a level of nesting and a step of work; {@link leave} ends it. */
  protected enter(): boolean {
    if (this.failed || ++this.#steps > MAX_STEPS || ++this.#depth > MAX_DEPTH) this.fail();
    return !this.failed;
  }

  /** Ends a level whose part was already noted. */
  protected leaveUnnoted(): void {
    this.#depth--;
  }

  /** Notes how a part is printed. */
  protected leave(start: number, text: string, roles: number): string {
    this.#depth--;
    if (text.length > MAX_OUTPUT_LENGTH) return this.fail();
    if (this.hidden > 0 || this.failed) return text;
    this.#texts[start] = text;
    this.#names[start] = this.#nameNumber;
    this.#contexts[start] = (this.#boundLifetimes << ROLE_BITS) | roles;
    return text;
  }
}
