import { expect, test } from 'vitest';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { writeReport } from '../../../src/writers/report/report.ts';
import { markdownName } from '../../../src/writers/tables/markdown.ts';
import { buildProfile } from '../../support/builders/profiles/build-profile.ts';

test('a report in Markdown has a table for each event, with numbers at the right and names as code', async () => {
  const sink = new BufferSink();
  const stack = ['main', { name: 'operator|', dso: '/lib/x.so' }];
  const samples = [0, 1, 2].map((timeNs) => ({ timeNs, stack: timeNs === 0 ? ['main', '__init'] : stack }));
  await writeReport(buildProfile([...samples, { timeNs: 3, event: 'page-faults', period: 7, stack: ['main'] }]), sink, {
    layout: 'markdown',
    sort: ['function', 'dso'],
    limit: 1,
    paintPercent: (text) => `\x1b[31m${text}`,
    width: 40,
  });
  expect(sink.text()).toBe(
    [
      '`cpu-clock`: 3 samples, period 3000000 ns',
      '',
      '| per | period | samples | function | dso |',
      '| ---: | ---: | ---: | :--- | :--- |',
      '| 66.67 | 2000000 | 2 | <code>operator&#124;</code> | `/lib/x.so` |',
      '',
      '1 more',
      '',
      '`page-faults`: 1 sample, period 7',
      '',
      '| per | period | samples | function | dso |',
      '| ---: | ---: | ---: | :--- | :--- |',
      '| 100.00 | 7 | 1 | `main` | `/bin/app` |',
      '',
    ].join('\n'),
  );
});

test.each([
  ['std::map<int, char*>::at', '`std::map<int, char*>::at`'],
  ['@user #12 __x__ *y* :tada:', '`@user #12 __x__ *y* :tada:`'],
  ['<script>alert(1)</script>', '`<script>alert(1)</script>`'],
  ['a|b', '<code>a&#124;b</code>'],
  ['a\\|b', '<code>a&#92;&#124;b</code>'],
  ['`rm`', '<code>&#96;rm&#96;</code>'],
  ['x`</code>@user', '<code>x&#96;&#60;&#47;code&#62;&#64;user</code>'],
  ['two\nlines\u202e\x1b[2J', '<code>two&#92;nlines&#92;u202e&#92;x1b&#91;2J</code>'],
  [' blank ', '<code>&#32;blank&#32;</code>'],
  ['', '<code></code>'],
])('the name %j in Markdown is %s', (name, text) => expect(markdownName(name)).toBe(text));
