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
import type { DemangleStyle } from './style.ts';

/** Longer names are left mangled. The longest of librustc_driver's 200,000 has 2,300 characters. */
const MAX_NAME_LENGTH = 1 << 16;
/** Character codes: a letter has different meanings at the start of a path and at that of a type or constant. */
const UNDERSCORE = 0x5f;
const A = 0x41;
const B = 0x42;
const C = 0x43;
const D = 0x44;
const F = 0x46;
const I = 0x49;
const K = 0x4b;
const L = 0x4c;
const M = 0x4d;
const N = 0x4e;
const O = 0x4f;
const P = 0x50;
const Q = 0x51;
const R = 0x52;
const S = 0x53;
const T = 0x54;
const U = 0x55;
const V = 0x56;
const W = 0x57;
const X = 0x58;
const Y = 0x59;
const Z = 0x5a;
const LOWER_A = 0x61;
const LOWER_B = 0x62;
const LOWER_C = 0x63;
const LOWER_E = 0x65;
const LOWER_N = 0x6e;
const LOWER_P = 0x70;
const LOWER_S = 0x73;
const LOWER_U = 0x75;
const LOWER_Z = 0x7a;

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
  if (name.charCodeAt(0) !== UNDERSCORE || name.charCodeAt(1) !== R || !isUpperCase(name.charCodeAt(2))) return undefined;
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
    if (!this.failed && isUpperCase(this.peek())) this.#hiddenPath();
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
      case C: // Crate root; its hash is not shown.
        if (this.eat(LOWER_S)) this.base62();
        path = this.identifier();
        break;
      case M: // Inherent impl
        this.#implPath();
        path = `<${this.#type()}>`;
        break;
      case X: // Trait impl
        this.#implPath();
        path = `<${this.#type()} as ${this.#path(PATH_IN_TYPE)}>`;
        break;
      case Y: // Trait definition
        path = `<${this.#type()} as ${this.#path(PATH_IN_TYPE)}>`;
        break;
      case N: {
        const namespace = this.next();
        const outer = this.position;
        path = this.#path(role);
        path += this.#nestedName(namespace);
        roles = this.rolesAt(outer, role);
        break;
      }
      case I:
        path = this.#path(role);
        if (this.#showsArguments) path += `${role === PATH_IN_VALUE ? '::<' : '<'}${this.#arguments()}>`;
        else this.#arguments();
        roles = role === PATH_IN_VALUE ? PATH_IN_VALUE : TYPE | PATH_IN_TYPE;
        break;
      case B: {
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
    const disambiguator = this.tagged(LOWER_S);
    const name = this.identifier();
    if (!isUpperCase(namespace)) return namespace >= LOWER_A && namespace <= LOWER_Z ? name && `::${name}` : this.fail();
    const kind = namespace === C ? 'closure' : namespace === S ? 'shim' : String.fromCharCode(namespace);
    return `::{${kind}${name && ':'}${name}#${disambiguator}}`;
  }

  /** Where an impl is written is not shown: the type that it is for says more. */
  #implPath(): void {
    this.tagged(LOWER_S);
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
      if (this.eat(L)) list += this.lifetime(this.base62());
      else list += this.eat(K) ? this.#constant(CONSTANT_ARGUMENT) : this.#type();
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
      case R:
        type = `&${this.#referenceLifetime()}${this.#type()}`;
        break;
      case Q:
        type = `&${this.#referenceLifetime()}mut ${this.#type()}`;
        break;
      case P:
        type = `*const ${this.#type()}`;
        break;
      case O:
        type = `*mut ${this.#type()}`;
        break;
      case A:
        type = `[${this.#type()}; ${this.#constant(CONSTANT_IN_VALUE)}]`;
        break;
      case S:
        type = `[${this.#type()}]`;
        break;
      case T:
        type = this.tuple(() => this.#type());
        break;
      case F:
        type = this.inBinder((binder) => binder + this.#functionType());
        break;
      case D:
        type = this.inBinder((binder) => `dyn ${binder}${this.list(' + ', () => this.#dynTrait())}`);
        type += this.#dynLifetime();
        break;
      case W:
        type = `${this.#type()} is ${this.#pattern()}`;
        break;
      case B: {
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
    const index = this.eat(L) ? this.base62() : 0;
    return index === 0 ? '' : `${this.lifetime(index)} `;
  }

  #functionType(): string {
    const unsafe = this.eat(U) ? 'unsafe ' : '';
    const abi = this.eat(K) ? `extern "${this.#abi()}" ` : '';
    const parameters = this.list(', ', () => this.#type());
    const returned = this.eat(LOWER_U) ? '' : ` -> ${this.#type()}`;
    return `${unsafe}${abi}fn(${parameters})${returned}`;
  }

  #abi(): string {
    if (this.eat(C)) return 'C';
    const isPunycode = this.peek() === LOWER_U;
    const name = this.identifier();
    return name === '' || isPunycode ? this.fail() : name.replaceAll('_', '-');
  }

  #dynLifetime(): string {
    if (!this.eat(L)) return this.fail();
    const index = this.base62();
    return index === 0 ? '' : ` + ${this.lifetime(index)}`;
  }

  /** A trait with its associated types, which are printed after its generic arguments: `Fn<(T,), Output = U>`. */
  #dynTrait(): string {
    const trait = this.#path(PATH_IN_TYPE);
    let bindings = '';
    while (this.eat(LOWER_P) && !this.failed) {
      const name = this.identifier();
      if (bindings !== '') bindings += ', ';
      bindings += `${name} = ${this.eat(K) ? this.#constant(CONSTANT_ARGUMENT) : this.#type()}`;
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
    if (tag === R) pattern = `${this.#constant(CONSTANT_ARGUMENT)}..=${this.#constant(CONSTANT_ARGUMENT)}`;
    else if (tag === O) pattern = this.list(' | ', () => this.#pattern());
    else pattern = tag === N ? '!null' : this.fail();
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
      const sign = signedness === 'signed' && this.eat(LOWER_N) ? '-' : '';
      constant = sign + integerText(this.hexNumber());
    } else if (tag === B) {
      const target = this.backref();
      const after = this.position;
      constant = this.known(target, role) ?? (this.follows(target) ? this.#constant(role) : '');
      this.position = after;
      roles = role;
    } else if (tag === LOWER_P) constant = '_';
    else if (tag === LOWER_B) constant = BOOLEANS[this.hexNumber()] ?? this.fail();
    else if (tag === LOWER_C) constant = characterLiteral(this.hexNumber()) ?? this.fail();
    else if (tag === R && this.eat(LOWER_E)) constant = this.#string();
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
      case LOWER_E:
        return `*${this.#string()}`;
      case R:
        return `&${value()}`;
      case Q:
        return `&mut ${value()}`;
      case A:
        return `[${this.list(', ', value)}]`;
      case T:
        return this.tuple(value);
      case V: {
        const path = this.#path(PATH_IN_VALUE);
        const kind = this.next();
        if (kind === U) return path;
        if (kind === T) return `${path}(${this.list(', ', value)})`;
        return kind === S ? `${path} { ${this.list(', ', () => this.#field())} }` : this.fail();
      }
      default:
        return this.fail();
    }
  }

  #field(): string {
    this.tagged(LOWER_S);
    return `${this.identifier()}: ${this.#constant(CONSTANT_IN_VALUE)}`;
  }

  #string(): string {
    return stringLiteral(this.nibbles()) ?? this.fail();
  }
}

const READER = new RustV0Reader();

function isUpperCase(code: number): boolean {
  return code >= A && code <= Z;
}
