import { describe, expect, it } from 'vitest';
import { demangleRustLegacy } from '../../../../src/demangle/schemes/rust/rust-legacy.ts';

const HASH = '17h0123456789abcdefE';

/** A mangled name with these parts. */
function mangled(...parts: string[]): string {
  return `_ZN${parts.map((part) => part.length + part).join('')}${HASH}`;
}

describe('demangleRustLegacy', () => {
  it.each([
    [mangled('foo', 'bar'), 'foo::bar'],
    [mangled('core', 'slice', '_$LT$impl$u20$$u5b$T$u5d$$GT$', 'sort'), 'core::slice::<impl [T]>::sort'],
    [mangled('_$LT$$RF$mut$u20$W$u20$as$u20$core..fmt..Write$GT$', 'write_str'), '<&mut W as core::fmt::Write>::write_str'],
    [mangled('a', '_$u7b$$u7b$closure$u7d$$u7d$'), 'a::{{closure}}'],
    [mangled('foo', 'b..c.d...e'), 'foo::b::c.d::.e'],
    [mangled('$SP$$BP$$RF$$LT$$GT$$LP$$RP$$C$$u7e$'), '@*&<>(),~'],
    [mangled('_$RF$bc'), '&bc'],
    [mangled('gr$u00f6$e'), 'gröe'],
    [`_ZN17h0123456789abcdef${HASH}`, 'h0123456789abcdef'],
  ])('shows %s as %s', (name, shown) => {
    expect(demangleRustLegacy(name, 'full')).toBe(shown);
    expect(demangleRustLegacy(name, 'no-params')).toBe(shown);
  });

  it.each([
    ['b$D$a', 'foo::b$D$a'],
    ['b$u3', 'foo::b$u3'],
    ['b$u3D$', 'foo::b$u3D$'],
    ['b$u7f$', 'foo::b$u7f$'],
    ['b$ud800$', 'foo::b$ud800$'],
    ['b$u110000$', 'foo::b$u110000$'],
    ['$toString$', 'foo::$toString$'],
  ])('keeps %s, which escapes no character', (part, shown) => {
    expect(demangleRustLegacy(mangled('foo', part), 'full')).toBe(shown);
  });

  it('removes suffixes of LLVM and keeps those of linkers', () => {
    const name = mangled('foo', 'bar');
    expect(demangleRustLegacy(`${name}.llvm.1234567890`, 'full')).toBe('foo::bar');
    expect(demangleRustLegacy(`${name}.llvm.12AB.cold`, 'full')).toBe('foo::bar');
    expect(demangleRustLegacy(`${name}@plt`, 'full')).toBe('foo::bar@plt');
    expect(demangleRustLegacy(`${name}.cold@@V1`, 'full')).toBe('foo::bar@@V1');
  });

  it.each([
    ['a C++ name', '_ZN3foo3barE'],
    ['a C++ name with parameters', `_ZN3foo3bar${HASH}v`],
    ['a hash with too few different digits', '_ZN3foo3bar17h0000111122223333E'],
    ['a hash in capitals', '_ZN3foo3bar17h0123456789ABCDEFE'],
    ['a hash with another character', '_ZN3foo3bar17h0123456789abcde:E'],
    ['only a hash', `_ZN${HASH}`],
    ['a part that overruns the hash', `_ZN9foo3bar${HASH}`],
    ['a part without a length', `_ZN3foobar${HASH}`],
    ['a length with a leading zero', `_ZN03foo${HASH}`],
    ['other characters', mangled('foo', 'a-b')],
    ['no name at all', ''],
    ['a name cut short', '_ZN3foo17h0123'],
  ])('does not mistake %s for Rust', (_, name) => {
    expect(demangleRustLegacy(name, 'full')).toBeUndefined();
  });

  it.each([
    [mangled('alloc', 'vec', 'Vec$LT$T$C$A$GT$', 'push'), 'alloc::vec::Vec::push'],
    [mangled('core', 'ptr', 'drop_in_place$LT$alloc..vec..Vec$LT$u8$GT$$GT$'), 'core::ptr::drop_in_place'],
    [mangled('_$LT$a..B$LT$T$GT$$u20$as$u20$c..D$LT$U$GT$$GT$', 'e'), '<a::B as c::D>::e'],
    [mangled('a', '_$LT$impl$u20$b..C$LT$T$GT$$u20$for$u20$D$LT$U$GT$$GT$', 'e'), 'a::<impl b::C for D>::e'],
    [mangled('a', 'B$LT$fn$LP$$RP$$u20$$u2d$$GT$$u20$u8$GT$', 'c'), 'a::B::c'],
    [mangled('foo..$LT$u8$GT$..bar'), 'foo::bar'],
    [mangled('a', 'b$LT$c'), 'a::b<c'],
    [mangled('_$LT$$u5b$T$u5d$$u20$as$u20$D$GT$', 'e'), '<[T] as D>::e'],
  ])('shortens %s to %s', (name, shown) => {
    expect(demangleRustLegacy(name, 'simple')).toBe(shown);
  });

  it('takes time in proportion to the length of the name', () => {
    const name = mangled(...new Array<string>(20_000).fill('a$LT$b..'));
    expect(demangleRustLegacy(name, 'simple')).toBeDefined();
    expect(demangleRustLegacy(mangled('$LT$'.repeat(50_000)), 'simple')).toHaveLength(50_000);
  });
});
