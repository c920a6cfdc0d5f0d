import { demangleJava } from '../demangle/java.ts';
import { simplifySourceName } from '../demangle/source-names.ts';
import type { Profile } from '../profile/profile.ts';
import { demangleSymbol } from './function-names.ts';

/**
 * The same profile with the names of its functions in the style `simple`, whichever they were made in: those that are demangled and those
 * that debug information gave scopes to. Names of linkers stay as they are.
 */
export function withSimpleNames(profile: Profile): Profile {
  return renamed(profile, (linkageName) => demangleSymbol(linkageName, 'simple'), simplifySourceName);
}

/**
 * The same profile with the names of its functions in the style `no-params`, whichever they were made in, but for those of Java, which have
 * parameters in that style, as perf prints them: they have none here. Those that debug information gave scopes to have none in any style.
 */
export function withoutParameters(profile: Profile): Profile {
  return renamed(
    profile,
    (linkageName) => demangleJava(linkageName, 'simple') ?? demangleSymbol(linkageName, 'no-params'),
    (name) => name,
  );
}

/** @param shownName gives a linkage name's, undefined where it stays as it is @param scopedName gives that of a name with scopes */
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
