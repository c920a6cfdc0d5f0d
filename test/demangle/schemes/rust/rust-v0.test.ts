import { describe, expect, it, vi } from 'vitest';
import { demangleRustV0 } from '../../../../src/demangle/schemes/rust/rust-v0.ts';

/** As printed by libiberty of binutils 2.40, and by rustc-demangle 0.1.28 except for what follows a dot. */
const PRINTED_ALIKE: readonly (readonly [string, string])[] = [
  ['_RC3foo', 'foo'],
  ['_RNvC3foo3bar', 'foo::bar'],
  ['_RNvC3foo3bar.llvm.123', 'foo::bar'],
  ['_RNvC3foo3bar.llvm.123.cold', 'foo::bar'],
  ['_RNvC3foo3bar@plt', 'foo::bar@plt'],
  ['_RNvC3foo3bar@@V', 'foo::bar@@V'],
  ['_RNvC3foo3barC3foo', 'foo::bar'],
  ['_RNCC3foo0', 'foo::{closure#0}'],
  ['_RNCNvC3foo3bar0', 'foo::bar::{closure#0}'],
  ['_RNCNvC3foo3bars_0', 'foo::bar::{closure#1}'],
  ['_RNCNvC3foo3bars0_0', 'foo::bar::{closure#2}'],
  ['_RNCNvC3foo3bars0_3abc', 'foo::bar::{closure:abc#2}'],
  ['_RNSNvC3foo3bar6vtable', 'foo::bar::{shim:vtable#0}'],
  ['_RNSNvC3foo3bars_6vtable', 'foo::bar::{shim:vtable#1}'],
  ['_RNZNvC3foo3bars_6vtable', 'foo::bar::{Z:vtable#1}'],
  ['_RNaNvC3foo3bars_6vtable', 'foo::bar::vtable'],
  ['_RNvNvC3foo3bar0', 'foo::bar'],
  ['_RNvC3foou8gdel_5qa', 'foo::gödel'],
  ['_RNvC3foou30____7hkackfecea1cbdathfdh9hlq6y', 'foo::საჭმელად_გემრიელი_სადილი'],
  ['_RINvC3foo3barlE', 'foo::bar::<i32>'],
  ['_RINvC3foo3barKj0_E', 'foo::bar::<0>'],
  ['_RINvC3foo3barKj00_E', 'foo::bar::<0>'],
  ['_RINvC3foo3barKjff_E', 'foo::bar::<255>'],
  ['_RINvC3foo3barKj7fffffffffffffff_E', 'foo::bar::<9223372036854775807>'],
  ['_RINvC3foo3barKjffffffffffffffff_E', 'foo::bar::<18446744073709551615>'],
  ['_RINvC3foo3barKln1_E', 'foo::bar::<-1>'],
  ['_RINvC3foo3barKn1_E', 'foo::bar::<1>'],
  ['_RINvC3foo3barKpE', 'foo::bar::<_>'],
  ['_RINvC3foo3barL_E', "foo::bar::<'_>"],
  ['_RINvC3foo3barReQeRL_eE', 'foo::bar::<&str, &mut str, &str>'],
  ['_RINvC3foo3barPeOeE', 'foo::bar::<*const str, *mut str>'],
  ['_RINvC3foo3barAhj8_ShE', 'foo::bar::<[u8; 8], [u8]>'],
  ['_RINvC3foo3barTETeETeeEE', 'foo::bar::<(), (str,), (str, str)>'],
  ['_RINvC3foo3barFEuE', 'foo::bar::<fn()>'],
  ['_RINvC3foo3barFeEeE', 'foo::bar::<fn(str) -> str>'],
  ['_RINvC3foo3barFUKCeEeE', 'foo::bar::<unsafe extern "C" fn(str) -> str>'],
  ['_RINvC3foo3barFK3fooeEeE', 'foo::bar::<extern "foo" fn(str) -> str>'],
  ['_RINvC3foo3barFK5f_o_oeEeE', 'foo::bar::<extern "f-o-o" fn(str) -> str>'],
  ['_RINvC3foo3barFG_RL0_eEuE', "foo::bar::<for<'a> fn(&'a str)>"],
  ['_RINvC3foo3barFG0_RL0_eRL1_eEuE', "foo::bar::<for<'a, 'b> fn(&'b str, &'a str)>"],
  [
    '_RINvC3foo3barFGr_RL0_eRL1_eEuE',
    "foo::bar::<for<'a, 'b, 'c, 'd, 'e, 'f, 'g, 'h, 'i, 'j, 'k, 'l, 'm, 'n, 'o, 'p, 'q, 'r, 's, 't, 'u, 'v, 'w, 'x, 'y, 'z, '_26, '_27, '_28> fn(&'_28 str, &'_27 str)>",
  ],
  ['_RINvC3foo3barDNtC3foo1TEL_E', 'foo::bar::<dyn foo::T>'],
  ['_RINvC3foo3barDNtC3foo1TNtC3foo1UEL_E', 'foo::bar::<dyn foo::T + foo::U>'],
  ['_RINvC3foo3barDG_INtC3foo1TRL0_eEEL_E', "foo::bar::<dyn for<'a> foo::T<&'a str>>"],
  ['_RINvC3foo3barDINtC3foo1TeEp4ItemlEL_E', 'foo::bar::<dyn foo::T<str, Item = i32>>'],
  ['_RINvC3foo3barDNtC3foo1Tp4ItemlEL_E', 'foo::bar::<dyn foo::T<Item = i32>>'],
  ['_RINvC3foo3barDNtC3foo1Tp4Itemlp3AbceEL_E', 'foo::bar::<dyn foo::T<Item = i32, Abc = str>>'],
  ['_RNvMC3fooNtC3foo1A3bar', '<foo::A>::bar'],
  ['_RNvMs_C3fooNtC3foo1A3bar', '<foo::A>::bar'],
  ['_RNvXC3fooNtC3foo1ANtC3foo1T3bar', '<foo::A as foo::T>::bar'],
  ['_RNvYNtC3foo1ANtC3foo1T3bar', '<foo::A as foo::T>::bar'],
  ['_RNvYINtC3foo1AlENtC3foo1T3bar', '<foo::A<i32> as foo::T>::bar'],
  ['_RINvYINtC3foo1AlEINtC3foo1TeE3bareE', '<foo::A<i32> as foo::T<str>>::bar::<str>'],
  ['_RNvXINtC3foo1AlENtC3foo1AINtC3foo1TeE3bar', '<foo::A as foo::T<str>>::bar'],
  ['_RMC3fooe', '<str>'],
  ['_RYeNtC3foo1T', '<str as foo::T>'],
  ['_RINvC3foo3barNtB2_1xE', 'foo::bar::<foo::x>'],
  ['_RINvC3foo3barvzpE', 'foo::bar::<..., !, _>'],
  ['_RINvC3foo3barNvC1a1bNtC1a1bE', 'foo::bar::<a::b, a::b>'],
  ['_RINvC3foo3barINvC1a1beEE', 'foo::bar::<a::b<str>>'],
  ['_RNvC6_123foo3bar', '123foo::bar'],
  ['_RNvCs_3foo3bar', 'foo::bar'],
  ['_RNvCs1_3foo3bar', 'foo::bar'],
  ['_RNvCsZZZZZZZZZZZZZZZZZ_3foo3bar', 'foo::bar'],
  ['_RNvC3foo3bar.cold.1', 'foo::bar'],
  ['_RNvC3foo3barNvC1a1b', 'foo::bar'],
  ['_RNvC3foo3barNvC1a1b.cold', 'foo::bar'],
  ['_RNqC3foo3bar', 'foo::bar'],
  ['_RIC3fooE', 'foo::<>'],
  ['_RIC3fooeE', 'foo::<str>'],
  ['_RIIC3fooeEeE', 'foo::<str>::<str>'],
  ['_RNvINtC3foo1AeE3bar', 'foo::A::<str>::bar'],
];

/** As printed by rustc-demangle; libiberty leaves them mangled, or prints them wrong. */
const BEYOND_LIBIBERTY: readonly (readonly [string, string])[] = [
  ['_RINvC3foo3barKo1ffffffffffffffff_E', 'foo::bar::<0x1ffffffffffffffff>'],
  ['_RINvC3foo3barKnn80000000000000000000000000000000_E', 'foo::bar::<-0x80000000000000000000000000000000>'],
  ['_RINvC3foo3barKc61_Kc27_Kc22_Kca_Kc9_Kc5c_E', "foo::bar::<'a', '\\'', '\"', '\\n', '\\t', '\\\\'>"],
  ['_RINvC3foo3barKc7e_Kc7f_Kc80_Kce9_Kc1f600_Kc1f_Kc20_E', "foo::bar::<'~', '\\u{7f}', '\\u{80}', '\\u{e9}', '\\u{1f600}', '\\u{1f}', ' '>"],
  ['_RINvC3foo3barKRe61225c0ac3a9_E', 'foo::bar::<"a\\"\\\\\\né">'],
  ['_RINvC3foo3barKe616263_E', 'foo::bar::<{*"abc"}>'],
  ['_RINvC3foo3barKRRe61_KQj3_E', 'foo::bar::<{&"a"}, {&mut 3}>'],
  ['_RINvC3foo3barKAj1_j2_EKAEE', 'foo::bar::<{[1, 2]}, {[]}>'],
  ['_RINvC3foo3barKTEKTj1_EKTj1_Rj2_EE', 'foo::bar::<{()}, {(1,)}, {(1, &2)}>'],
  ['_RINvC3foo3barKVNtC3foo1AUE', 'foo::bar::<{foo::A}>'],
  ['_RINvC3foo3barKVINtC1a1bhETj1_EE', 'foo::bar::<{a::b::<u8>(1)}>'],
  ['_RINvC3foo3barKVNtC3foo1AS1xj1_s_1yj2_EE', 'foo::bar::<{foo::A { x: 1, y: 2 }}>'],
  ['_RINvC3foo3barKTj1_EKBc_E', 'foo::bar::<{(1,)}, {(1,)}>'],
  ['_RINvC3foo3barDNtC3foo1Tp4ItemKj1_EL_E', 'foo::bar::<dyn foo::T<Item = 1>>'],
  ['_RINvC3foo3barWjORj0_j1_Rj3_j4_EWPjNE', 'foo::bar::<usize is 0..=1 | 3..=4, *const usize is !null>'],
];

describe('demangleRustV0', () => {
  it.each([...PRINTED_ALIKE, ...BEYOND_LIBIBERTY])('shows %s as %s', (name, shown) => {
    expect(demangleRustV0(name, 'full')).toBe(shown);
    expect(demangleRustV0(name, 'no-params')).toBe(shown);
  });

  it.each([
    '',
    '_R',
    '_Rx',
    '_R0NvC3foo3bar',
    '__RNvC3foo3bar',
    'RNvC3foo3bar',
    '_RNvC3foo3bar$foo',
    '_RNvC3foo3bar_',
    '_RNvC3foo3barv',
    '_RN0C3foo3bar',
    '_RNvC3foo',
    '_RNvC3foo99999bar',
    '_RNvC03foo3bar',
    '_RNvC3foo3barNvC1a',
    '_RIC3foo',
    '_RNvC3foou4cpUA',
    '_RNvC3foou3b_x',
    '_RNvC3foou0',
    '_RNvB1_3bar',
    '_RNvNvB_3bar3baz',
    '_RNvC3fooB_',
    '_RINvC3foo3barNtB3_1xE',
    '_RINvC3foo3barKj_E',
    '_RINvC3foo3barKjn1_E',
    '_RINvC3foo3barKb2_E',
    '_RINvC3foo3barKcd800_E',
    '_RINvC3foo3barKc110000_E',
    '_RINvC3foo3barKjxyz_E',
    '_RINvC3foo3barKRee_E',
    '_RINvC3foo3barKReff_E',
    '_RINvC3foo3barKf0_E',
    '_RINvC3foo3barL0_E',
    '_RINvC3foo3barFK0eEeE',
    '_RINvC3foo3barFKu3foo_aeEeE',
    '_RINvC3foo3barDNtC3foo1TEE',
    '_RINvC3foo3barFGZZZZZZZZZZZ_EuE',
  ])('leaves %s, which is damaged or of another kind', (name) => {
    expect(demangleRustV0(name, 'full')).toBeUndefined();
  });

  it.each([
    ['_RINvC3foo3barlE', 'foo::bar'],
    ['_RNvINtC3foo1AeE3bar', 'foo::A::bar'],
    ['_RINvYINtC3foo1AlEINtC3foo1TeE3bareE', '<foo::A as foo::T>::bar'],
    ['_RNvMs_C3fooINtC3foo1AINtC3foo1AlEE3bar', '<foo::A>::bar'],
    ['_RNvMC3fooDINtC3foo1TeEp4ItemlNtC3foo1UEL_3bar', '<dyn foo::T + foo::U>::bar'],
    ['_RNCINvC3foo3barlE0', 'foo::bar::{closure#0}'],
    ['_RNvMC3fooAINtC3foo1AlEj8_3bar', '<[foo::A; 8]>::bar'],
  ])('shortens %s to %s', (name, shown) => {
    expect(demangleRustV0(name, 'simple')).toBe(shown);
  });

  it('shows the target of a reference in the way that is right at the place of the reference', () => {
    expect(demangleRustV0('_RINvINtC3foo1AhE3barB2_NtB5_1CE', 'full')).toBe('foo::A::<u8>::bar::<foo::A<u8>, foo::C>');
    // The innermost lifetime is a different one within a further binder.
    expect(demangleRustV0('_RINvC3foo3barFG_RL0_eBe_FG_Be_EuEuE', 'full')).toBe("foo::bar::<for<'a> fn(&'a str, &'a str, for<'b> fn(&'b str))>");
  });

  it('gives up on names that expand without end', () => {
    // Each tuple contains the previous one twice.
    let name = '_RINvC1a1bTeeE';
    let last = name.length - 5;
    for (let i = 0; i < 60; i++) {
      const reference = `B${base62(last - 2)}`;
      last = name.length;
      name += `T${reference}${reference}E`;
    }
    expect(demangleRustV0(`${name}E`, 'full')).toBeUndefined();
    expect(demangleRustV0(`${name}E`, 'simple')).toBe('a::b');
    expect(demangleRustV0(`_RINvC1a1b${'R'.repeat(100_000)}eE`, 'full')).toBeUndefined();
    expect(demangleRustV0(`_RINvC1a1b${'R'.repeat(1000)}eE`, 'full')).toBeUndefined();
    expect(demangleRustV0(`_RINvC1a1b${'F'.repeat(10_000)}`, 'full')).toBeUndefined();
    expect(demangleRustV0(`_R${'N'.repeat(10_000)}`, 'full')).toBeUndefined();
  });

  it('gives up on references to what contains them, before it has read many arguments at each level', () => {
    const looked = vi.spyOn(String.prototype, 'charCodeAt');
    try {
      expect(demangleRustV0(`_RINvC1a1b${'a'.repeat(5000)}B_E`, 'full')).toBeUndefined();
      expect(looked.mock.calls.length).toBeLessThan(200_000);
    } finally {
      looked.mockRestore();
    }
  });

  it('does not take other characters for digits', () => {
    expect(demangleRustV0('_RNvCs0_1a1b', 'full')).toBe('a::b');
    expect(demangleRustV0('_RNvCs.1a1b', 'full')).toBeUndefined();
  });

  it('reads numbers of somewhat more than 64 bits, but not of hundreds', () => {
    expect(demangleRustV0(`_RNvCs${'Z'.repeat(32)}_1a1b`, 'full')).toBe('a::b');
    expect(demangleRustV0(`_RNvCs${'0'.repeat(33)}_1a1b`, 'full')).toBeUndefined();
    expect(demangleRustV0(`_RINvC1a1bReB${'0'.repeat(33)}_E`, 'full')).toBeUndefined();
  });

  it.each([
    [3, 'a::b::<&str, &str, &str, &str>'],
    // Deeper than names are followed.
    [10_000, undefined],
  ])('follows references to references as far as they are few: %i', (count, expected) => {
    let name = '_RINvC1a1bRe';
    for (let i = 0; i < count; i++) name += `B${base62(name.length - 2 - (i === 0 ? 2 : 3))}`;
    expect(demangleRustV0(`${name}E`, 'full')).toBe(expected);
  });
});

function base62(value: number): string {
  const digits = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
  if (value === 0) return '_';
  let text = '';
  for (let rest = value - 1; ; rest = Math.floor(rest / 62)) {
    text = digits[rest % 62] + text;
    if (rest < 62) return `${text}_`;
  }
}
