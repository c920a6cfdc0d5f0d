import { type DemangleStyle, demangle } from '../demangle/demangle.ts';
import { inDemanglerTerms, simplifySourceName } from '../demangle/source-names.ts';
import type { SourceFunction, SourceScope } from '../symbol-table/code-symbols.ts';

/** Real programs nest scopes far less. */
const MAX_SCOPES = 64;
/** If a name would become longer, further scopes are left out. */
const MAX_LENGTH = 1 << 16;

/**
 * The name of a function that has no linkage name, with the scopes around it: `std::sort<int*>`. It has no parameters in any style. Parts
 * are named as demanglers name them: `(anonymous namespace)`, `run(int)::{lambda(int)}`.
 */
export function scopedName({ name, scope }: Pick<SourceFunction, 'name' | 'scope'>, style: DemangleStyle): string {
  const shownPart = (text: string): string => (style === 'simple' ? simplifySourceName(inDemanglerTerms(text)) : inDemanglerTerms(text));
  let shown = shownPart(name);
  let around = scope;
  for (let i = 0; around && i < MAX_SCOPES; i++) {
    const withScopes = around.linkageName === '' ? undefined : enclosingFunction(around.linkageName, style);
    const part = withScopes ?? (around.name === '' ? namelessScope(around, shown) : shownPart(around.name));
    if (part.length + shown.length > MAX_LENGTH) break;
    shown = `${part}::${shown}`;
    if (withScopes !== undefined) break;
    around = around.scope;
  }
  return shown;
}

/** @param inner what is in the scope: a type without a name that can be called is a lambda's */
function namelessScope({ isNamespace = false }: SourceScope, inner: string): string {
  if (isNamespace) return '(anonymous namespace)';
  return inner.startsWith('operator()') ? '{lambda}' : '{unnamed type}';
}

/** How demanglers print a function in front of the name of something local to it; undefined for a name that cannot be demangled. */
function enclosingFunction(linkageName: string, style: DemangleStyle): string | undefined {
  if (!linkageName.startsWith('_Z')) return demangle(linkageName, style);
  const local = '::x';
  const shown = demangle(`_ZZ${linkageName.slice(2)}E1x`, style);
  return shown?.endsWith(local) ? shown.slice(0, -local.length) : undefined;
}
