import type { Profile } from '../profile/profile.ts';
import { showUnknownCode } from '../profile/shown-profile.ts';
import type { UnknownCode } from '../profile/unknown-code.ts';

/** What is shown of each profile that was written, by mode: several outputs are written from one. */
const SHOWN = new WeakMap<Profile, Map<UnknownCode, Profile>>();

/** A profile as it is shown: see {@link showUnknownCode}. It is made once, and goes when the profile does. */
export function shownProfile(profile: Profile, unknown: UnknownCode): Profile {
  const byMode = SHOWN.get(profile) ?? new Map<UnknownCode, Profile>();
  SHOWN.set(profile, byMode);
  const shown = byMode.get(unknown) ?? showUnknownCode(profile, unknown);
  byMode.set(unknown, shown);
  return shown;
}
