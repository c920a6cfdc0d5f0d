import type { Random } from '../random.ts';

/** Names of the three manglings, which together cover their grammars. */
const NAMES: readonly string[] = [
  '_ZN4work6Series7descendEi',
  '_ZNSt6vectorISt6threadSaIS0_EE17_M_realloc_insertIJRFviiERiS6_EEEvN9__gnu_cxx17__normal_iteratorIPS0_S2_EEDpOT_',
  '_ZZN1aIiEclEvENKUlT_E0_clIcEEDaS1_',
  '_ZN1AcvT_IPFivEEEv',
  '_Z1fIJicfEEvDpT_',
  '_ZGVZN1f1gEvE1h',
  '_ZTv0_n24_N1AD0Ev',
  '_Z1fIXadL_Z1gvEEEvv',
  '_Z4testILi3EEDTplfp_Li1EEi',
  '_ZN5outer4RingIiLm4ELb1EE3sumEv.constprop.0.isra.1',
  '_Z1gIiEvT_QsrSt3isaIS0_E',
  '_ZW3mod1fv',
  '_ZN4core3ptr49drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE',
  '_RNvMs_NtCs1234_7mycrate3fooNtB4_3Bar3baz',
  '_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE',
  '_RNCNvC6simple4main0',
  '_RIC3fooKj2a_KpE',
  '_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc2202_E',
  '_RYNtC3foo3BarDNtB2_5TraitEL_p4ItemuEL_',
];

/** Pieces that open something, refer back to something, or end something. */
const PIECES: readonly string[] = [
  'I', 'E', 'N', 'S_', 'S0_', 'SZZZ_', 'T_', 'T0_', 'TL0__', 'Dp', 'DT', 'Dt', 'J', 'P', 'R', 'O', 'K', 'F', 'v', 'A', 'A3_', 'M', 'X', 'L', 'Li1E', 'LZ', '_Z', 'Z',
  'Ul', 'Ut_', 'E_', 'cv', 'cl', 'il', 'sr', 'sZ', 'fp_', 'fL0p_', 'st', 'C1', 'D0', 'B', 'B_', 'B0_', 'Bzz_', 'Nv', 'Nt', 'C', 'Y', 'D', 'p', 'Q', 'TyTn', '99999999999', '1a',
  '_', 'ZZZZZZ_', 'u', 'h', 'Kj', 'G_', 'GZZ_', '$LT$', '..', '.', 'clone', '17h', '\u00e9', '\ud83d\ude00', '__proto__', '\n', '\x1b[31m',
]; // biome-ignore format: a table
const MAX_COPIES = 3000;

/** Names for string tables: mangled names with pieces changed, doubled or deeply nested. */
export function mangledNames(random: Random): Uint8Array[] {
  return Array.from({ length: random.between(1, 8) }, () => new TextEncoder().encode(`${mangledName(random)}\0`));
}

function mangledName(random: Random): string {
  let name = random.pick(NAMES);
  for (let count = random.between(0, 4); count > 0; count--) {
    const at = random.between(2, name.length);
    const end = Math.min(name.length, at + random.below(6));
    switch (random.below(5)) {
      case 0:
        name = name.slice(0, at) + name.slice(end);
        break;
      case 1:
        name = name.slice(0, at) + random.pick(PIECES) + name.slice(random.oneIn(2) ? at : end);
        break;
      case 2:
        name = name.slice(0, at) + random.pick(PIECES).repeat(random.oneIn(6) ? random.between(50, MAX_COPIES) : random.between(2, 20)) + name.slice(at);
        break;
      case 3:
        name = name.slice(0, at) + name.slice(at, end).repeat(random.oneIn(6) ? random.between(50, MAX_COPIES) : random.between(2, 20)) + name.slice(end);
        break;
      default: {
        const other = random.pick(NAMES);
        name = name.slice(0, at) + other.slice(random.below(other.length));
      }
    }
  }
  return name;
}
