import { addressOf, highWord, LEAST_ADDRESS } from '../../base/bytes/addresses.ts';
import { BranchFlag, branchCycles, type SampleBranches } from '../../profile/branches.ts';
import { hexAddress } from '../../profile/names.ts';
import type { Profile } from '../../profile/profile.ts';
import { TextCache } from '../text-cache.ts';
import type { ScriptField } from './field-requests.ts';

/** How places of code are shown. */
export interface PlaceTexts {
  /** `symbol+0xoffset`, or `[unknown]`. */
  readonly symbol: (location: number) => string;
  /** The DSO's name, or `[unknown]`. */
  readonly dso: (location: number) => string;
}

/** Prints the branches of samples as perf script prints them. Source of the format: observed, perf 6.1. */
export class BranchColumns {
  readonly #branches: SampleBranches;
  readonly #profile: Profile;
  readonly #symbols: TextCache<string>;
  readonly #dsos: TextCache<string>;

  constructor(branches: SampleBranches, profile: Profile, texts: PlaceTexts) {
    this.#branches = branches;
    this.#profile = profile;
    this.#symbols = new TextCache(profile.locations.size, texts.symbol);
    this.#dsos = new TextCache(profile.locations.size, (location) => `(${texts.dso(location)})`);
  }

  /** The branches of a sample. If several fields for them are chosen, perf prints one. */
  text(row: number, fields: ReadonlySet<ScriptField>): string {
    const count = this.#branches.count(row);
    if (count === 0) return '';
    const isSymbolic = !fields.has('brstack') && fields.has('brstacksym');
    const endText = this.#endText(fields);
    if (endText === undefined) return '';
    const showsDso = fields.has('dso') && this.#branches.hasPlaces;
    let text = '';
    for (let nth = 0; nth < count; nth++) {
      const dsoOf = (end: 0 | 1): string => (showsDso ? this.#dsos.get(this.#branches.place(row, nth, end)) : '');
      // Only addresses have a space before them.
      text += `${isSymbolic ? '' : ' '}${endText(row, nth, 0)}${dsoOf(0)}/${endText(row, nth, 1)}${dsoOf(1)}${flagsText(this.#branches.flags(row, nth))} `;
    }
    return text;
  }

  #endText(fields: ReadonlySet<ScriptField>): ((row: number, nth: number, end: 0 | 1) => string) | undefined {
    const branches = this.#branches;
    if (fields.has('brstack')) return (row, nth, end) => `0x${hexAddress(branches.addressLo(row, nth, end), branches.addressHi(row, nth, end))}`;
    if (fields.has('brstacksym')) return (row, nth, end) => this.#symbols.get(branches.place(row, nth, end));
    if (fields.has('brstackoff')) return (row, nth, end) => this.#offsetText(row, nth, end);
    return undefined;
  }

  /**
   * The offset in the DSO: in a file, the address in the file; in the kernel and its modules, the distance from their start. Elsewhere, and in a kernel that the
   * recording does not say the start of (simpleperf's map of it spans all addresses), it is the address itself.
   */
  #offsetText(row: number, nth: number, end: 0 | 1): string {
    const { locations, mappings } = this.#profile;
    const location = this.#branches.place(row, nth, end);
    const mapping = locations.mapping(location);
    const kind = mapping < 0 ? undefined : mappings[mapping].kind;
    if (kind === 'file') return `0x${hexAddress(locations.addressLo(location), locations.addressHi(location))}`;
    const lo = this.#branches.addressLo(row, nth, end);
    const hi = this.#branches.addressHi(row, nth, end);
    const hasStart = (kind === 'kernel' || kind === 'module') && mappings[mapping].start !== LEAST_ADDRESS;
    if (!hasStart) return `0x${hexAddress(lo, hi)}`;
    const offset = addressOf(hi, lo) - mappings[mapping].start;
    return `0x${hexAddress(offset >>> 0, highWord(offset))}`;
  }
}

/** `/P/X/A/cycles/TYPE`: P predicted or M mispredicted, X in a transaction, A aborted it. */
function flagsText(flags: number): string {
  const prediction = flags & BranchFlag.predicted ? 'P' : flags & BranchFlag.mispredicted ? 'M' : '-';
  const transaction = `${flags & BranchFlag.inTransaction ? 'X' : '-'}/${flags & BranchFlag.aborted ? 'A' : '-'}`;
  return `/${prediction}/${transaction}/${branchCycles(flags)}/${branchType(flags)}`;
}

/** Source: perf_event.h, PERF_BR_*. */
const BRANCH_TYPES = ['', 'COND', 'UNCOND', 'IND', 'CALL', 'IND_CALL', 'RET', 'SYSCALL', 'SYSRET', 'COND_CALL', 'COND_RET', 'ERET', 'IRQ', 'SERROR', 'NO_TX'];
/** Used with type 15, which refers to a further field. Source: perf_event.h, PERF_BR_NEW_*. */
const NEW_BRANCH_TYPES = ['FAULT_ALGN', 'FAULT_DATA', 'FAULT_INST', 'ARCH_1', 'ARCH_2', 'ARCH_3', 'ARCH_4', 'ARCH_5'];

function branchType(flags: number): string {
  return BRANCH_TYPES[(flags >>> 20) & 15] ?? NEW_BRANCH_TYPES[(flags >>> 26) & 15] ?? '(null)';
}
