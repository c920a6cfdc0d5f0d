import { describe, expect, it } from 'vitest';
import { type DemangleStyle, demangle } from '../../../src/demangle/demangle.ts';

const STYLES: readonly DemangleStyle[] = ['full', 'no-params', 'simple'];

describe('names of Java methods', () => {
  // The style no-params is as perf 6.1 prints.
  it.each([
    ['Ljava/lang/String;hashCode()I', 'java.lang.String.hashCode()', 'java.lang.String.hashCode()', 'java.lang.String.hashCode'],
    [
      'Ljava/lang/StringLatin1;equals([B[B)Z',
      'java.lang.StringLatin1.equals(byte[], byte[])',
      'java.lang.StringLatin1.equals(byte[], byte[])',
      'java.lang.StringLatin1.equals',
    ],
    ['LFoo$Bar;<init>(IJ)V', 'Foo$Bar.<init>(int, long)', 'Foo$Bar<init>(int, long)', 'Foo$Bar.<init>'],
    ['LFoo;main([Ljava/lang/String;)V', 'Foo.main(java.lang.String[])', 'Foo.main(java.lang.String)', 'Foo.main'],
    ['LFoo;a([[LBar;[I)V', 'Foo.a(Bar[][], int[])', 'Foo.a(Bar, int[][][])', 'Foo.a'],
    ['LFoo;a([[I[Ljava/util/Map;)[J', 'Foo.a(int[][], java.util.Map[])', 'Foo.a(int[][], java.util.Map)', 'Foo.a'],
    ['LFoo;a([[[Z)V', 'Foo.a(boolean[][][])', 'Foo.a(boolean[][][])', 'Foo.a'],
    ['LFoo;a(BCDFIJSZ)D', 'Foo.a(byte, char, double, float, int, long, short, boolean)', 'Foo.a(byte, char, double, float, int, long, short, ', 'Foo.a'],
    ['Lcom/a/B;lambda$x$0(Ljava/util/List;I)V', 'com.a.B.lambda$x$0(java.util.List, int)', 'com.a.B.lambda$x$0(java.util.List, int)', 'com.a.B.lambda$x$0'],
    ['La/F$MH.0x00007f;invoke(La/b.0x1;)La/B;', 'a.F$MH.0x00007f.invoke(a.b.0x1)', 'a.F$MH.0x00007f.invoke(a.b.0x1)', 'a.F$MH.0x00007f.invoke'],
  ])('are demangled: %s', (mangled, full, noParams, simple) => {
    expect(STYLES.map((style) => demangle(mangled, style))).toEqual([full, noParams, simple]);
  });

  it.each([
    'L',
    'LFoo',
    'LFoo;',
    'LFoo;a',
    'LFoo;a(',
    'LFoo;a(I',
    'LFoo;a(I)',
    'LFoo;a(I)VV',
    'LFoo;a(V)V',
    'LFoo;a([)V',
    'LFoo;a(L;)V',
    'LFoo;a(LBar)V',
    'LFoo;a(Q)V',
    'LFoo;()V',
    'L;a()V',
    'LFoo;a;b()V',
    'LFoo(;a()V',
    'Ljava/lang/String;::hashCode',
    'Interpreter',
    'Lambda(I)V',
  ])('do not include %j', (name) => {
    expect(demangle(name)).toBeUndefined();
  });

  it('are never cut off within a character', () => {
    for (let before = 20; before < 60; before++) {
      for (let after = 0; after < 60; after++) {
        const shown = demangle(`La;m(${'I'.repeat(before)}L😀;${'I'.repeat(after)})V`, 'no-params');
        expect(shown).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
      }
    }
  });

  it('can have any length', () => {
    for (const parameters of ['I', '[', '[LA;', 'LA;'].map((one) => one.repeat(50_000))) {
      for (const style of STYLES) expect((demangle(`LFoo;a(${parameters}I)V`, style)?.length ?? 0) < 1_000_000).toBe(true);
    }
  });
});
