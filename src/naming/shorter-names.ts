import { demangleJava } from '../demangle/schemes/java.ts';
import { simplifySourceName } from '../demangle/source-names.ts';
import type { Profile } from '../profile/profile.ts';
import { demangleSymbol } from './function-names.ts';

/**
 * The same profile with function names in the style `simple`, whichever style they had: demangled names, and names to which debug information gave scopes.
 * Linkage names stay as they are.
 */
export function withSimpleNames(profile: Profile): Profile {
  return renamed(profile, (linkageName) => demangleSymbol(linkageName, 'simple'), simplifySourceName);
}

/**
 * The same profile with function names in the style `no-params`, whichever style they had. In that style, Java names have parameters, as perf prints them; here
 * they have none. Names to which debug information gave scopes have none in any style.
 */
export function withoutParameters(profile: Profile): Profile {
  return renamed(
    profile,
    (linkageName) => demangleJava(linkageName, 'simple') ?? demangleSymbol(linkageName, 'no-params'),
    (name) => name,
  );
}

/** @param shownName returns the name to show for a linkage name, undefined if it stays as it is @param scopedName returns it for a name with scopes */
function renamed(profile: Profile, shownName: (linkageName: string) => string | undefined, scopedName: (name: string) => string): Profile {
  const { functions, strings } = profile;
  const nameOf = (index: number): number => {
    const name = functions.name(index);
    if (functions.isScoped(index)) return strings.intern(scopedName(strings.get(name)));
    const shown = shownName(strings.get(functions.systemName(index) || name));
    return shown === undefined ? name : strings.intern(shown);
  };
  return { ...profile, functions: functions.withNames(Uint32Array.from({ length: functions.size }, (_, index) => nameOf(index))) };
}
