import { describe, expect, test } from 'vitest';
import type { SourceFrame, SourceLines } from '../../../src/symbol-table/code-symbols.ts';
import { LinesBesideGo } from '../../../src/symbolizer/debug/lines-beside-go.ts';

/** Lines of these addresses, all in one file. */
function linesOf(file: string, known: readonly number[]): SourceLines {
  return {
    async lookup(addresses, visit) {
      addresses.forEach((address, i) => {
        if (known.includes(address)) visit(i, [{ function: undefined, file, line: address, column: 0 }]);
      });
    },
  };
}

async function found(lines: SourceLines, ...addresses: number[]): Promise<(string | undefined)[]> {
  const texts: (string | undefined)[] = addresses.map(() => undefined);
  await lines.lookup(Float64Array.from(addresses), (index, [{ file, line }]: readonly SourceFrame[]) => {
    texts[index] = `${file}:${line}`;
  });
  return texts;
}

describe('debug information of a Go program', () => {
  test('leaves other addresses to Go’s table if it is only of C', async () => {
    const lines = new LinesBesideGo(linesOf('a.c', [2]), async () => linesOf('main.go', [1, 2, 3]));
    expect(await found(lines, 1, 2, 3, 4)).toEqual(['main.go:1', 'a.c:2', 'main.go:3', undefined]);
  });

  test('is the only source if it is of Go', async () => {
    let opened = 0;
    const lines = new LinesBesideGo(linesOf('main.go', [2]), async () => {
      opened++;
      return linesOf('table.go', [1]);
    });
    expect(await found(lines, 1, 2)).toEqual([undefined, 'main.go:2']);
    expect(opened).toBe(0);
  });

  test('is enough if it knows all addresses, or if there is no table', async () => {
    const lines = new LinesBesideGo(linesOf('a.c', [1, 2]), async () => undefined);
    expect(await found(lines, 1, 2)).toEqual(['a.c:1', 'a.c:2']);
    expect(await found(lines, 1, 3)).toEqual(['a.c:1', undefined]);
  });
});
