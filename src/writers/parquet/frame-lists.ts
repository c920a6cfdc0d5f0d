import type { StringTable } from '../../base/tables/string-table.ts';
import { mappingText } from '../../profile/names.ts';
import type { Profile } from '../../profile/profile.ts';
import { FrameTexts } from '../frame-texts.ts';

/** The texts of one list column: for each frame of each location, the innermost first, the index of a text; 0 if it has none. */
export interface FrameList {
  count(location: number): number;
  text(location: number, nth: number): number;
}

/** The functions of frames. @param strings the table that their names are added to */
export function functionsOfFrames(profile: Profile, strings: StringTable): FrameList {
  return new FrameTexts(profile, strings, {
    functionText: (name) => name,
    addressSuffix: (location) => mappingText(profile, profile.locations.mapping(location)),
  });
}

/** The DSOs of the same frames. @param dsos by mapping: index of its name */
export function dsosOfFrames({ locations }: Profile, functions: FrameList, dsos: Uint32Array): FrameList {
  return {
    count: (location) => functions.count(location),
    text: (location) => {
      const mapping = locations.mapping(location);
      return mapping < 0 ? 0 : dsos[mapping];
    },
  };
}
