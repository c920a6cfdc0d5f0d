import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FieldBytes, putVarint, varintLength } from '../../../src/writers/pprof/field-bytes.ts';
import { runs } from '../../support/thoroughness.ts';

/** A field to encode: a number, a text, or a message of fields. */
type Field = { readonly number: number } | { readonly text: string } | { readonly fields: readonly Field[] };

const { field: anyField } = fc.letrec<{ field: Field }>((tie) => ({
  field: fc.oneof(
    { depthSize: 'small' },
    fc.record({ number: fc.oneof(fc.nat(300), fc.nat(0xffff_ffff), fc.maxSafeInteger().map(Math.abs)) }),
    fc.record({ text: fc.string({ unit: 'grapheme', maxLength: 200 }) }),
    fc.record({ fields: fc.array(tie('field'), { maxLength: 12 }) }),
  ),
}));

function put(fields: FieldBytes, list: readonly Field[]): void {
  for (const field of list) {
    if ('number' in field) fields.element(1, field.number);
    else if ('text' in field) fields.text(2, field.text);
    else {
      const start = fields.begin(3);
      put(fields, field.fields);
      fields.end(start);
    }
  }
}

function write(writer: BinaryWriter, list: readonly Field[]): BinaryWriter {
  for (const field of list) {
    if ('number' in field) writer.tag(1, WireType.Varint).uint64(field.number);
    else if ('text' in field) writer.tag(2, WireType.LengthDelimited).string(field.text);
    else write(writer.tag(3, WireType.LengthDelimited).fork(), field.fields).join();
  }
  return writer;
}

describe('pprof: FieldBytes', () => {
  test('encodes nested messages like a protobuf library', () => {
    fc.assert(
      fc.property(fc.array(anyField, { maxLength: 30 }), (list) => {
        const fields = new FieldBytes();
        put(fields, list);
        expect(Buffer.from(fields.collected)).toEqual(Buffer.from(write(new BinaryWriter(), list).finish()));
      }),
      { numRuns: runs(500, 100) },
    );
  });

  test.each([0, 0x7f, 0x80, 0x3fff, 0x4000, 0x1f_ffff, 0x20_0000, 0xfff_ffff, 0x1000_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff])(
    'encodes the varint of %i in the predicted length',
    (value) => expect(putVarint(new Uint8Array(10), 0, value)).toBe(varintLength(value)),
  );

  test('encodes all 64 bits of numbers in two words, signed or not', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.boolean(), (value, isSigned) => {
        const words = [Number(value & 0xffff_ffffn), Number(value >> 32n)];
        const [lo, hi] = isSigned ? words.map((word) => word | 0) : words;
        const fields = new FieldBytes();
        fields.words(1, lo, hi);
        const expected = value === 0n ? new Uint8Array() : new BinaryWriter().tag(1, WireType.Varint).uint64(value).finish();
        expect(Buffer.from(fields.collected)).toEqual(Buffer.from(expected));
      }),
      { numRuns: runs(500, 100) },
    );
  });

  test('makes room for what a text becomes, also if that is just too long', () => {
    const capacity = new FieldBytes().bytes.length;
    for (let length = Math.floor(capacity / 3) - 8; length < capacity / 3 + 2; length++) {
      const text = '\u{20ac}'.repeat(length);
      const fields = new FieldBytes();
      fields.text(2, text);
      expect(Buffer.from(fields.collected)).toEqual(Buffer.from(new BinaryWriter().tag(2, WireType.LengthDelimited).string(text).finish()));
    }
  });

  test('writes bytes that are not UTF-8 as escapes', () => {
    const fields = new FieldBytes();
    fields.text(2, 'a\udcffb');
    expect(Buffer.from(fields.collected.subarray(2)).toString()).toBe('a\\xffb');
  });
});
