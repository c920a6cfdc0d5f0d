import { describe, expect, it } from 'vitest';
import { joinSourcePath } from '../../../src/dwarf/lines/line-path.ts';

describe('joinSourcePath', () => {
  it.each([
    [['/build', 'src', 'a.c'], '/build/src/a.c'],
    [['/build', '/usr/include', 'stdio.h'], '/usr/include/stdio.h'],
    [['/build', 'src', '/abs/a.c'], '/abs/a.c'],
    [['/build/x', '../y/./z', '..//a.c'], '/build/y/a.c'],
    [['/', '../../a.c'], '/a.c'],
    [['', '', 'a.c'], 'a.c'],
    [['', './src', '../../a.c'], '../a.c'],
    [['/build', '', ''], '/build'],
    [['/build/', 'a.c'], '/build/a.c'],
    [[''], ''],
    [['/a', 'b..c', '.d', 'e.c'], '/a/b..c/.d/e.c'],
    // Backslashes are ordinary characters unless the root is of Windows.
    [['/rustc/1', 'library\\core', 'mod.rs'], '/rustc/1/library\\core/mod.rs'],
    [['C:\\build', '..\\src', 'a.c'], 'C:\\src\\a.c'],
    [['C:/build', 'src/../inc', 'a.h'], 'C:/build/inc/a.h'],
    [['/build', 'd:\\src\\a.c'], 'd:\\src\\a.c'],
    [['\\\\server\\share', 'a\\.\\b.c'], '\\\\server\\share\\a\\b.c'],
  ])('joins %j to %s', (parts, path) => {
    expect(joinSourcePath(...parts)).toBe(path);
  });
});
