import { describe, expect, it } from 'vitest';
import { StringTable } from '../../src/base/tables/string-table.ts';
import { FunctionNames } from '../../src/naming/function-names.ts';
import { scopedName } from '../../src/naming/scoped-name.ts';
import type { SourceScope } from '../../src/symbol-table/code-symbols.ts';
import { whenThorough } from '../support/thoroughness.ts';

const scope = (name: string, outer: SourceScope | null = null, more: Partial<SourceScope> = {}): SourceScope => ({
  name,
  linkageName: '',
  scope: outer,
  ...more,
});
const namespace = (name: string, outer: SourceScope | null = null): SourceScope => scope(name, outer, { isNamespace: true });
const RUN = scope('run', undefined, { linkageName: '_ZN3app3runIiEEvRSt6vectorIiSaIiEE' });

describe('a name with scopes', () => {
  it.each<[string, SourceScope | null, string, string]>([
    ['top', null, 'top', 'top'],
    ['sort<int*>', namespace('std'), 'std::sort<int*>', 'std::sort'],
    ['get', scope('Box<int>', namespace('', namespace('app'))), 'app::(anonymous namespace)::Box<int>::get', 'app::(anonymous namespace)::Box::get'],
    ['get', scope(''), '{unnamed type}::get', '{unnamed type}::get'],
    ['operator()<int>', scope('', scope('main')), 'main::{lambda}::operator()<int>', 'main::{lambda}::operator()'],
    [
      'operator()',
      scope('<lambda(int)>', RUN),
      'app::run<int>(std::vector<int, std::allocator<int> >&)::{lambda(int)}::operator()',
      'app::run()::{lambda(int)}::operator()',
    ],
    ['f', scope('Local', scope('c_function', undefined, { linkageName: 'c_function' })), 'c_function::Local::f', 'c_function::Local::f'],
  ])('is right for %s in case %#', (name, around, full, simple) => {
    expect([scopedName({ name, scope: around }, 'full'), scopedName({ name, scope: around }, 'simple')]).toEqual([full, simple]);
  });

  it('has only the innermost scopes if they are circular or too long in total', () => {
    const circle = { name: 'a', linkageName: '', scope: undefined as SourceScope | undefined };
    circle.scope = circle;
    expect(scopedName({ name: 'f', scope: circle }, 'full')).toBe(`${'a::'.repeat(64)}f`);
    circle.name = 'a'.repeat(30_000);
    expect(scopedName({ name: 'f', scope: circle }, 'full')).toBe(`${`${circle.name}::`.repeat(2)}f`);
  });

  whenThorough(() => {
    it('is made until there are too many letters; then functions have names without scopes', () => {
      const strings = new StringTable();
      const names = new FunctionNames(strings, 'full');
      const long = scope('a'.repeat(60_000));
      const lengths = Array.from(
        { length: 1200 },
        (_, i) => strings.get(names.ofDescribed({ name: `f${i}`, linkageName: '', file: '', startLine: 0, scope: long }).name).length,
      );
      expect([lengths[0], lengths[1199]]).toEqual([60_004, 5]);
      expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThan(70_000_000);
    });
  });
});
