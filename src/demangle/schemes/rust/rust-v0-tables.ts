/** By character code; RFC 2603, `basic-type`. */
export const BASIC_TYPES = byCode({
  ...{ a: 'i8', b: 'bool', c: 'char', d: 'f64', e: 'str', f: 'f32', h: 'u8', i: 'isize', j: 'usize', l: 'i32', m: 'u32', n: 'i128', o: 'u128', p: '_' },
  ...{ s: 'i16', t: 'u16', u: '()', v: '...', x: 'i64', y: 'u64', z: '!' },
});
/** By the hexadecimal number that stands for them. */
export const BOOLEANS: Readonly<Record<string, string>> = { 0: 'false', 1: 'true' };
/** By character code: integers, and whether their constants may be negative. */
export const SIGNEDNESS = byCode({
  ...{ a: 'signed', i: 'signed', l: 'signed', n: 'signed', s: 'signed', x: 'signed' },
  ...{ h: '', j: '', m: '', o: '', t: '', y: '' },
});

function byCode(texts: Readonly<Record<string, string>>): readonly (string | undefined)[] {
  return Array.from({ length: 128 }, (_, code) => texts[String.fromCharCode(code)]);
}
