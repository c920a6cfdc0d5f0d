import { CHAR, isLower, isUpper } from '../chars.ts';
import type { DemangleStyle } from '../style.ts';
import { characterLiteral, integerText, stringLiteral } from './rust-literals.ts';
import {
  ANY_CONSTANT,
  ANY_PATH,
  CONSTANT_ARGUMENT,
  CONSTANT_IN_VALUE,
  type ConstantRole,
  MAX_OUTPUT_LENGTH,
  PATH_IN_TYPE,
  PATH_IN_VALUE,
  type PathRole,
  RustV0Parts,
  TYPE,
} from './rust-v0-parts.ts';
import { BASIC_TYPES, BOOLEANS, SIGNEDNESS } from './rust-v0-tables.ts';

/** Longer names are left mangled. The longest of librustc_driver's 200,000 has 2,300 characters. */
const MAX_NAME_LENGTH = 1 << 16;

/**
 * Demangles `_R…`, rustc's v0 names (RFC 2603), as libiberty (binutils 2.40, perf) prints them by default: without the crates' hashes, the
 * types of constants, and LLVM's suffixes (`.llvm.…`, `.cold`). Constants that it does not know (strings, references, arrays, tuples,
 * structures), integers beyond 64 bits, quotes in characters and pattern types are printed as the crate rustc-demangle prints them.
 * @param name a linker's name; what follows an `@` (`@plt`, a version) is kept
 * @param style `simple` leaves out generic arguments; the other two print the same
 * @returns undefined if it is no such name, or takes more work, depth or room than any compiler's name
 */
export function demangleRustV0(name: string, style: DemangleStyle): string | undefined {
  // Paths start with an upper-case letter; a digit would be the version of a future encoding.
  if (name.charCodeAt(0) !== CHAR._ || name.charCodeAt(1) !== CHAR.R || !isUpper(name.charCodeAt(2))) return undefined;
  return name.length > MAX_NAME_LENGTH ? undefined : READER.demangle(name, style !== 'simple');
}

/**
 * Reads one name after the other. Each method reads one production of RFC 2603's grammar and returns how that is printed. After a failure,
 * all of them return at once, and what they return is discarded.
 */
class RustV0Reader extends RustV0Parts {
  #showsArguments = true;
  demangle(name: string, showsArguments: boolean): string | undefined {
    this.begin(name);
    this.#showsArguments = showsArguments;
    const path = this.#path(PATH_IN_VALUE);
    // The crate that made this instance.
    if (!this.failed && isUpper(this.peek())) this.#hiddenPath();
    const rest = name.charAt(this.position);
    if (this.failed || (rest !== '' && rest !== '.' && rest !== '@')) return undefined;
    const at = rest === '' ? -1 : name.indexOf('@', this.position);
    return at < 0 ? path : path + name.slice(at);
  }

  #path(role: PathRole): string {
    const start = this.position;
    if (!this.enter()) return '';
    let roles = ANY_PATH;
    let path: string;
    switch (this.next()) {
      case CHAR.C: // Crate root; its hash is not shown.
        if (this.eat(CHAR.s)) this.base62();
        path = this.identifier();
        break;
      case CHAR.M: // Inherent impl
        this.#implPath();
        path = `<${this.#type()}>`;
        break;
      case CHAR.X: // Trait impl
        this.#implPath();
        path = `<${this.#type()} as ${this.#path(PATH_IN_TYPE)}>`;
        break;
      case CHAR.Y: // Trait definition
        path = `<${this.#type()} as ${this.#path(PATH_IN_TYPE)}>`;
        break;
      case CHAR.N: {
        const namespace = this.next();
        const outer = this.position;
        path = this.#path(role);
        path += this.#nestedName(namespace);
        roles = this.rolesAt(outer, role);
        break;
      }
      case CHAR.I:
        path = this.#path(role);
        if (this.#showsArguments) path += `${role === PATH_IN_VALUE ? '::<' : '<'}${this.#arguments()}>`;
        else this.#arguments();
        roles = role === PATH_IN_VALUE ? PATH_IN_VALUE : TYPE | PATH_IN_TYPE;
        break;
      case CHAR.B: {
        const target = this.backref();
        const after = this.position;
        path = this.known(target, role) ?? (this.follows(target) ? this.#path(role) : '');
        this.position = after;
        roles = this.rolesAt(target, role);
        break;
      }
      default:
        return this.fail();
    }
    return this.leave(start, path, roles);
  }

  /** @param namespace lower case: internal to the compiler; upper case: closures, shims and future ones */
  #nestedName(namespace: number): string {
    const disambiguator = this.tagged(CHAR.s);
    const name = this.identifier();
    if (!isUpper(namespace)) return isLower(namespace) ? name && `::${name}` : this.fail();
    const kind = namespace === CHAR.C ? 'closure' : namespace === CHAR.S ? 'shim' : String.fromCharCode(namespace);
    return `::{${kind}${name && ':'}${name}#${disambiguator}}`;
  }

  /** Where an impl is written is not shown: the type that it is for says more. */
  #implPath(): void {
    this.tagged(CHAR.s);
    this.#hiddenPath();
  }

  #hiddenPath(): void {
    this.hidden++;
    this.#path(PATH_IN_TYPE);
    this.hidden--;
  }

  /** Generic arguments, up to their end; empty if they are not to be shown. */
  #arguments(): string {
    if (!this.#showsArguments) this.hidden++;
    let list = '';
    for (let count = 0; this.hasNext(list); count++) {
      if (count > 0) list += ', ';
      if (this.eat(CHAR.L)) list += this.lifetime(this.base62());
      else list += this.eat(CHAR.K) ? this.#constant(CONSTANT_ARGUMENT) : this.#type();
    }
    if (this.#showsArguments) return list;
    this.hidden--;
    return '';
  }

  #type(): string {
    const start = this.position;
    const tag = this.next();
    const basic = BASIC_TYPES[tag];
    if (basic !== undefined) return basic;
    if (!this.enter()) return '';
    let type: string;
    switch (tag) {
      case CHAR.R:
        type = `&${this.#referenceLifetime()}${this.#type()}`;
        break;
      case CHAR.Q:
        type = `&${this.#referenceLifetime()}mut ${this.#type()}`;
        break;
      case CHAR.P:
        type = `*const ${this.#type()}`;
        break;
      case CHAR.O:
        type = `*mut ${this.#type()}`;
        break;
      case CHAR.A:
        type = `[${this.#type()}; ${this.#constant(CONSTANT_IN_VALUE)}]`;
        break;
      case CHAR.S:
        type = `[${this.#type()}]`;
        break;
      case CHAR.T:
        type = this.tuple(() => this.#type());
        break;
      case CHAR.F:
        type = this.inBinder((binder) => binder + this.#functionType());
        break;
      case CHAR.D:
        type = this.inBinder((binder) => `dyn ${binder}${this.list(' + ', () => this.#dynTrait())}`);
        type += this.#dynLifetime();
        break;
      case CHAR.W:
        type = `${this.#type()} is ${this.#pattern()}`;
        break;
      case CHAR.B: {
        const target = this.backref();
        const after = this.position;
        type = this.known(target, TYPE) ?? (this.follows(target) ? this.#type() : '');
        this.position = after;
        break;
      }
      default:
        this.position = start;
        type = this.#path(PATH_IN_TYPE);
        this.leaveUnnoted();
        return type; // The path is already noted, and can be referred to as both.
    }
    return this.leave(start, type, TYPE);
  }

  #referenceLifetime(): string {
    const index = this.eat(CHAR.L) ? this.base62() : 0;
    return index === 0 ? '' : `${this.lifetime(index)} `;
  }

  #functionType(): string {
    const unsafe = this.eat(CHAR.U) ? 'unsafe ' : '';
    const abi = this.eat(CHAR.K) ? `extern "${this.#abi()}" ` : '';
    const parameters = this.list(', ', () => this.#type());
    const returned = this.eat(CHAR.u) ? '' : ` -> ${this.#type()}`;
    return `${unsafe}${abi}fn(${parameters})${returned}`;
  }

  #abi(): string {
    if (this.eat(CHAR.C)) return 'C';
    const isPunycode = this.peek() === CHAR.u;
    const name = this.identifier();
    return name === '' || isPunycode ? this.fail() : name.replaceAll('_', '-');
  }

  #dynLifetime(): string {
    if (!this.eat(CHAR.L)) return this.fail();
    const index = this.base62();
    return index === 0 ? '' : ` + ${this.lifetime(index)}`;
  }

  /** A trait with its associated types, which are printed after its generic arguments: `Fn<(T,), Output = U>`. */
  #dynTrait(): string {
    const trait = this.#path(PATH_IN_TYPE);
    let bindings = '';
    while (this.eat(CHAR.p) && !this.failed) {
      const name = this.identifier();
      if (bindings !== '') bindings += ', ';
      bindings += `${name} = ${this.eat(CHAR.K) ? this.#constant(CONSTANT_ARGUMENT) : this.#type()}`;
      if (bindings.length > MAX_OUTPUT_LENGTH) this.fail();
    }
    if (bindings === '' || !this.#showsArguments) return trait;
    // A trait is not an impl, so that only generic arguments end in a bracket.
    return trait.endsWith('>') ? `${trait.slice(0, -1)}, ${bindings}>` : `${trait}<${bindings}>`;
  }

  /** Patterns of pattern types, which are not in the RFC. */
  #pattern(): string {
    if (!this.enter()) return '';
    const start = this.position;
    const tag = this.next();
    let pattern: string;
    if (tag === CHAR.R) pattern = `${this.#constant(CONSTANT_ARGUMENT)}..=${this.#constant(CONSTANT_ARGUMENT)}`;
    else if (tag === CHAR.O) pattern = this.list(' | ', () => this.#pattern());
    else pattern = tag === CHAR.N ? '!null' : this.fail();
    return this.leave(start, pattern, 0);
  }

  #constant(role: ConstantRole): string {
    const start = this.position;
    if (!this.enter()) return '';
    const tag = this.next();
    const signedness = SIGNEDNESS[tag];
    let constant: string;
    let roles = ANY_CONSTANT;
    if (signedness !== undefined) {
      const sign = signedness === 'signed' && this.eat(CHAR.n) ? '-' : '';
      constant = sign + integerText(this.hexNumber());
    } else if (tag === CHAR.B) {
      const target = this.backref();
      const after = this.position;
      constant = this.known(target, role) ?? (this.follows(target) ? this.#constant(role) : '');
      this.position = after;
      roles = role;
    } else if (tag === CHAR.p) constant = '_';
    else if (tag === CHAR.b) constant = BOOLEANS[this.hexNumber()] ?? this.fail();
    else if (tag === CHAR.c) constant = characterLiteral(this.hexNumber()) ?? this.fail();
    else if (tag === CHAR.R && this.eat(CHAR.e)) constant = this.#string();
    else {
      constant = this.#expression(tag);
      if (role === CONSTANT_ARGUMENT) constant = `{${constant}}`;
      roles = role;
    }
    return this.leave(start, constant, roles);
  }

  /** Constants of types that were added after the RFC. */
  #expression(tag: number): string {
    const value = () => this.#constant(CONSTANT_IN_VALUE);
    switch (tag) {
      case CHAR.e:
        return `*${this.#string()}`;
      case CHAR.R:
        return `&${value()}`;
      case CHAR.Q:
        return `&mut ${value()}`;
      case CHAR.A:
        return `[${this.list(', ', value)}]`;
      case CHAR.T:
        return this.tuple(value);
      case CHAR.V: {
        const path = this.#path(PATH_IN_VALUE);
        const kind = this.next();
        if (kind === CHAR.U) return path;
        if (kind === CHAR.T) return `${path}(${this.list(', ', value)})`;
        return kind === CHAR.S ? `${path} { ${this.list(', ', () => this.#field())} }` : this.fail();
      }
      default:
        return this.fail();
    }
  }

  #field(): string {
    this.tagged(CHAR.s);
    return `${this.identifier()}: ${this.#constant(CONSTANT_IN_VALUE)}`;
  }

  #string(): string {
    return stringLiteral(this.nibbles()) ?? this.fail();
  }
}

const READER = new RustV0Reader();
