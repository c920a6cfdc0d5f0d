import type { Profile } from '../profile/profile.ts';
import { showUnknownCode } from '../profile/shown-profile.ts';
import type { UnknownCode } from '../profile/unknown-code.ts';

/** The shown form of each profile, by mode, since several outputs may be written from one profile. */
const SHOWN = new WeakMap<Profile, Map<UnknownCode, Profile>>();

/** A profile as it is shown: see {@link showUnknownCode}. It is made once, and freed together with the profile. */
export function shownProfile(profile: Profile, unknown: UnknownCode): Profile {
  const byMode = SHOWN.get(profile) ?? new Map<UnknownCode, Profile>();
  SHOWN.set(profile, byMode);
  const shown = byMode.get(unknown) ?? showUnknownCode(profile, unknown);
  byMode.set(unknown, shown);
  return shown;
}
