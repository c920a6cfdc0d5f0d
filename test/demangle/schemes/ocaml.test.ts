import { describe, expect, it } from 'vitest';
import { demangle } from '../../../src/demangle/demangle.ts';

describe('names of OCaml', () => {
  // As printed by perf 6.1.
  it.each([
    ['camlFib__fold_90', 'Fib.fold_90'],
    ['camlStdlib__List__iter_123', 'Stdlib.List.iter_123'],
    ['camlStdlib__Hashtbl.add_123', 'Stdlib.Hashtbl.add_123'],
    ['camlFib__$2b$2B_80', 'Fib.++_80'],
    ['camlDune__exe__Main__$28fun$29_5', 'Dune.exe.Main.(fun)_5'],
    ['camlA____b', 'A..b'],
    ['camlA___b', 'A._b'],
    ['camlA$5f$5fb', 'A__b'],
    ['camlA$4', 'A$4'],
    ['camlA$zz$$41', 'A$zz$A'],
    ['camlA', 'A'],
    ['camlFib__fold_90.cold', 'Fib.fold_90.cold'],
  ])('are demangled: %s', (mangled, shown) => {
    for (const style of ['full', 'no-params', 'simple'] as const) expect(demangle(mangled, style)).toBe(shown);
  });

  it('have characters beyond ASCII in UTF-8', () => {
    expect(demangle('camlCaf$c3$a9__th$c3$a9_1')).toBe('Caf\u00e9.th\u00e9_1');
    expect(demangle('camlCaf$e9_1')).toBe('Caf\udce9_1');
  });

  it('keep escapes of unprintable characters', () => {
    expect(demangle('camlA__b$0ac$00$7f')).toBe('A.b$0ac$00$7f');
  });

  it.each(['caml', 'caml_alloc', 'caml1', 'camlfib__x_1', '_camlFib__x_1', 'caml$41x', 'Camlp4'])('do not include %j', (name) => {
    expect(demangle(name)).toBeUndefined();
  });

  it('can have any length', () => {
    for (const part of ['$2b', '$', '__', '_', '$c3']) expect(demangle(`camlA${part.repeat(100_000)}`)!.length).toBeLessThan(1_000_000);
  });
});
