import { describe, expect, it } from 'vitest';
import { ByteView } from '../../src/base/bytes/byte-view.ts';
import { compileTracePrinter, type TracePrinterOptions } from '../../src/tracing/printer.ts';
import { readTracingData } from '../../src/tracing/tracing-data.ts';
import { encodeTracingData, type TraceFieldSpec } from '../support/builders/recordings/perf-encoder.ts';
import { traceCaseFields, traceCasePayload, traceCasePrintkFormats, traceCases } from '../support/builders/recordings/trace-cases.ts';

const commonBytes = [0, 0, 0, 0, 0x92, 0x10, 0, 0];

/** The text that a format makes of one payload, given without its common fields. */
function show(printFmt: string, payload: Iterable<number>, fields: readonly TraceFieldSpec[], options?: TracePrinterOptions): string {
  const systems = [{ name: 'lab', formats: [{ name: 'case', id: 1000, fields, printFmt }] }];
  const data = readTracingData(encodeTracingData({ systems, printkFormats: traceCasePrintkFormats }));
  const bytes = Uint8Array.from([...commonBytes, ...payload]);
  const format = data.formats.get(1000);
  if (format === undefined) throw new Error('the format was not read');
  return compileTracePrinter(format, data, options)(new ByteView(bytes, true), 0, bytes.length);
}

const number: readonly TraceFieldSpec[] = [{ declaration: 'u64 n', offset: 8, size: 8 }];
const zeros = new Uint8Array(8);

const cases = traceCases.map(([printFmt, text, byTheRules]) => ({ printFmt, text, byTheRules }));

describe('print formats', () => {
  it.each(cases.filter(({ text }) => text !== undefined))('like $printFmt are shown as by perf 6.1', ({ printFmt, text }) => {
    expect(show(printFmt, traceCasePayload, traceCaseFields, { compatPerf: true })).toBe(text);
  });

  it.each(cases.filter(({ text }) => text !== undefined))('like $printFmt are shown by the rules of C', ({ printFmt, text, byTheRules }) => {
    expect(show(printFmt, traceCasePayload, traceCaseFields)).toBe(byTheRules ?? text);
  });

  it.each(cases.filter(({ text }) => text === undefined))('like $printFmt cannot be read', ({ printFmt }) => {
    expect(show(printFmt, traceCasePayload, traceCaseFields)).toMatch(
      /^\[FAILED TO PARSE\] ip4=ARRAY\[c0, a8, 01, 02\] be=16777226 .* rel=relstr .* cp=0xffffffff82000000 uuid= neg=-9 lneg=-9 big=0xffffffffffffffff bytes=ARRAY\[01, 02, 03\] empty= en=3 name=abcd pid=-1 s64f=-2 addr=/s,
    );
  });

  it('name functions', () => {
    const resolve = (address: number | bigint) => (address === 0x1234 ? { name: 'function', offset: 0x10 } : undefined);
    const payload = [0x34, 0x12, 0, 0, 0, 0, 0, 0];
    expect(show('"%pS %ps %pF %pf %p", REC->n, REC->n, REC->n, REC->n, REC->n', payload, number, { resolve })).toBe(
      'function+0x10 function function+0x10 function 0x1234',
    );
    expect(show('"%pS %ps", REC->n + 1, 0', payload, number, { resolve })).toBe('0x1235 0x0');
  });

  it('show elements of fields of variable length, which perf 6.1 does not', () => {
    const fields: TraceFieldSpec[] = [{ declaration: '__data_loc u8[] val', offset: 8, size: 4 }];
    const payload = [12, 0, 4, 0, 0x78, 0, 0xff, 1];
    expect(show('"(%s) %d", __print_dynamic_array(val, 1), 5', payload, fields)).toBe('({0x78,0x0,0xff,0x1}) 5');
    expect(show('"%s %s %s", __print_dynamic_array(val, 2), __print_dynamic_array(val, 0), __print_dynamic_array(other, 1)', payload, fields)).toBe(
      '{0x78,0x1ff} {} ',
    );
    expect(show('"(%s) %d", __print_dynamic_array(val, 1), 5', payload, fields, { compatPerf: true })).toMatch(/^\[FAILED TO PARSE\] val=/);
  });

  it('yield 0 for divisions by zero', () => {
    expect(show('"%d %d", 5 / REC->n, 5 % REC->n', zeros, number)).toBe('0 0');
  });

  it('read nothing beyond the payload', () => {
    const fields: TraceFieldSpec[] = [
      { declaration: '__data_loc char[] far', offset: 8, size: 4 },
      { declaration: 'u32 list[4]', offset: 12, size: 16 },
      { declaration: 'u64 gone', offset: 4000, size: 8 },
    ];
    const payload = [0xf0, 0xff, 0xff, 0xff, 1, 0, 0, 0, 2, 0, 0, 0];
    expect(
      show(
        '"%s|%d|%s|%s|%s", __get_str(far), REC->gone, __print_array(REC->list, 1000000000, 4), __print_hex(REC->list, -1), __get_bitmask(far)',
        payload,
        fields,
      ),
    ).toBe('|0|1 2|01 00 00 00 02 00 00 00|');
  });
});

describe('hostile print formats', () => {
  it('are bounded in width', () => {
    expect(show('"%999999999d|%.999999999d", 5, 5', zeros, number).length).toBeLessThan(4000);
    expect(show('"%*d|", 999999999, 5', zeros, number).length).toBeLessThan(4000);
  });

  it('are bounded in length', () => {
    const args = ', __print_hex(REC->bytes, 60000)'.repeat(2000);
    const fields = [{ declaration: 'u8 bytes[60000]', offset: 8, size: 60000 }];
    expect(show(`"${'%s'.repeat(2000)}"${args}`, new Uint8Array(60000), fields).length).toBeLessThanOrEqual(1 << 18);
  });

  it.each([
    ['parentheses', `${'('.repeat(100_000)}1${')'.repeat(100_000)}`],
    ['signs', `${'-'.repeat(100_000)}1`],
    ['choices', `${'1 ? '.repeat(50_000)}1${' : 1'.repeat(50_000)}`],
    ['sums', `1${' + 1'.repeat(100_000)}`],
    ['casts', `${'(int)'.repeat(100_000)}1`],
    ['indexes', `REC->n${'[0]'.repeat(100_000)}`],
    ['calls', `${'__builtin_expect('.repeat(50_000)}1${', 1)'.repeat(50_000)}`],
  ])('of endless %s are shown field by field', (_, expression) => {
    expect(show(`"%d", ${expression}`, zeros, number)).toBe('[FAILED TO PARSE] n=0');
    expect(show(`"%d", ${expression}`, zeros, number, { compatPerf: true })).toBe('[FAILED TO PARSE] n=0');
  });

  it('with strings that do not end are shown field by field', () => {
    expect(show(`"${'\\"'.repeat(100_000)}`, zeros, number)).toBe('[FAILED TO PARSE] n=0');
    expect(show(`"%d", ${'"'.repeat(99_999)}`, zeros, number)).toBe('[FAILED TO PARSE] n=0');
  });
});
