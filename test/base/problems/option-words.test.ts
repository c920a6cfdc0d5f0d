import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { COMMAND_LINE_OPTIONS, LIBRARY_OPTIONS } from '../../../src/base/problems/option-words.ts';
import { COMMANDS } from '../../../src/cli/command-line/commands.ts';

const src = fileURLToPath(new URL('../../../src', import.meta.url));
/** perf and docker have options of these names, too, which messages advise to use. */
const ALSO_OTHERS = ['off-cpu', 'pid'];
const NAMES = COMMANDS.flatMap(({ options }) => options.map(({ name }) => name)).filter((name) => !ALSO_OTHERS.includes(name));

describe('options in messages', () => {
  it('are named as users of the library and of the command line give them', () => {
    expect([LIBRARY_OPTIONS('debugDir', 'DIR'), LIBRARY_OPTIONS('offCpu')]).toEqual(["{ debugDir: 'DIR' }", 'option offCpu']);
    expect([COMMAND_LINE_OPTIONS('debugDir', 'DIR'), COMMAND_LINE_OPTIONS('offCpu')]).toEqual(['--debug-dir DIR', '--off-cpu']);
  });

  it('are not named as on the command line by anything but the command line', () => {
    const option = new RegExp(`--(?:${NAMES.join('|')})(?![-\\w])`);
    const lines = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !/^cli[/\\]/.test(path))
      .flatMap((path) =>
        readFileSync(join(src, path), 'utf8')
          .split('\n')
          .map((line) => `${path}: ${line.trim()}`),
      )
      .filter((line) => !/^[^ ]+: (?:\/\/|\/\*|\*)/.test(line));
    expect(lines.filter((line) => option.test(line))).toEqual([]);
  });
});
