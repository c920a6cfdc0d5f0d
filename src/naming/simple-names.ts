import { simplifySourceName } from '../demangle/source-names.ts';
import type { Profile } from '../profile/profile.ts';
import { demangleSymbol } from './function-names.ts';

/**
 * The same profile with the names of its functions in the style `simple`, whichever they were made in: those that are demangled and those
 * that debug information gave scopes to. Names of linkers stay as they are.
 */
export function withSimpleNames(profile: Profile): Profile {
  const { functions, strings } = profile;
  const simple = (index: number): number => {
    const name = functions.name(index);
    if (functions.isScoped(index)) return strings.intern(simplifySourceName(strings.get(name)));
    const shown = demangleSymbol(strings.get(functions.systemName(index) || name), 'simple');
    return shown === undefined ? name : strings.intern(shown);
  };
  return { ...profile, functions: functions.withNames(Uint32Array.from({ length: functions.size }, (_, index) => simple(index))) };
}
