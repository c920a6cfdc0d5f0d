import { CPUMODE_HYPERVISOR } from '../../profile/location-table.ts';
import { isMadeAtRunTime } from '../../profile/names.ts';
import type { Profile } from '../../profile/profile.ts';
import { isKernelCode } from '../kernel-code.ts';

/* Categories color the viewer's CPU graph and the squares in its call tree. A sample has the category of its leaf. */

export const CATEGORY_OTHER = 0;
const CATEGORY_USER = 1;
export const CATEGORY_KERNEL = 2;
const CATEGORY_JIT = 3;
const CATEGORY_INLINED = 4;

const SUBCATEGORY_OTHER = 0;
const SUBCATEGORY_MODULE = 1;
const SUBCATEGORY_INLINED = 2;

/**
 * `meta.categories`, in the order of the constants. The first gray one is the viewer's default, and the first
 * subcategory has to be `Other`. Source: Firefox Profiler, src/types/profile.ts.
 */
export const CATEGORIES: readonly { readonly name: string; readonly color: string; readonly subcategories: readonly string[] }[] = [
  { name: 'Other', color: 'grey', subcategories: ['Other'] },
  { name: 'User', color: 'yellow', subcategories: ['Other'] },
  { name: 'Kernel', color: 'orange', subcategories: ['Other', 'Module', 'Inlined'] },
  { name: 'JIT', color: 'green', subcategories: ['Other'] },
  { name: 'Inlined', color: 'lightblue', subcategories: ['Other'] },
];

/**
 * The category of a location's `nth` function. Inlined functions of kernels stay in the kernel's category: what ran there matters more than how it was
 * compiled.
 */
export function categoryOf(profile: Profile, location: number, nth: number): number {
  const { locations, mappings } = profile;
  if (isKernelCode(profile, location)) return CATEGORY_KERNEL;
  const mapping = locations.mapping(location);
  if (mapping < 0 || locations.cpumode(location) === CPUMODE_HYPERVISOR) return CATEGORY_OTHER;
  if (nth < locations.lineCount(location) - 1) return CATEGORY_INLINED;
  return isMadeAtRunTime(mappings[mapping]) ? CATEGORY_JIT : CATEGORY_USER;
}

/** Index into the subcategories of {@link categoryOf}. */
export function subcategoryOf(profile: Profile, location: number, nth: number): number {
  const { locations, mappings } = profile;
  if (!isKernelCode(profile, location)) return SUBCATEGORY_OTHER;
  if (nth < locations.lineCount(location) - 1) return SUBCATEGORY_INLINED;
  const mapping = locations.mapping(location);
  return mapping >= 0 && mappings[mapping].kind === 'module' ? SUBCATEGORY_MODULE : SUBCATEGORY_OTHER;
}
