import { describe, expect, it } from 'vitest';
import { foldScript } from './fold-script.ts';
import { parsePerfScript } from './perf-script-text.ts';

describe("perf's text, folded", () => {
  it('adds up stacks with the same names, whatever their addresses', () => {
    const text = `my app  7  1.000001:  100 cpu-clock:
\t  401010 work+0x10 (/bin/app)
\t  401100 main+0x20 (/bin/app)

my app  7  1.000002:  20 cpu-clock:
\t  401014 work+0x14 (/bin/app)
\t  401100 main+0x20 (/bin/app)

my app  7  1.000003:  3 cpu-clock:
\t  501010 [unknown] (/lib/libc.so.6)
\t  401104 inner+0x24 (inlined)
\t  401104 main+0x24 (/bin/app)
\t       0 [unknown] ([unknown])

`;
    expect([...foldScript(parsePerfScript(text))]).toEqual([
      ['my_app;main;work', 120n],
      ['my_app;[unknown];main;inner;[libc.so.6]', 3n],
    ]);
  });
});
