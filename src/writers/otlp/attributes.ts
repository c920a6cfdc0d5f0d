import type { StringTable } from '../../base/tables/string-table.ts';
import type { FieldBytes } from '../pprof/field-bytes.ts';
import { EncodedFields } from '../pprof/task-sets.ts';
import { ANY_VALUE, ARRAY_VALUE, KEY_VALUE_AND_UNIT } from './field-numbers.ts';

export type AttributeValue = string | number | boolean | readonly string[];

/**
 * The attribute table: each key with a value once. Attribute 0 is none.
 *
 * Texts are written into the table (string_value) rather than as indexes of strings, which common.proto has since release 1.10: each is there once in either
 * way, and consumers that do not know the newer field would show none.
 */
export class AttributeTable {
  readonly #strings: StringTable;
  readonly #encoded = new EncodedFields();

  /** @param strings string table, to which keys are added */
  constructor(strings: StringTable) {
    this.#strings = strings;
    this.#encoded.intern(() => undefined);
  }

  get size(): number {
    return this.#encoded.size;
  }

  /** Index of an attribute. */
  intern(key: string, value: AttributeValue): number {
    const keyIndex = this.#strings.intern(key);
    return this.#encoded.intern((fields) => {
      fields.number(KEY_VALUE_AND_UNIT.keyStrindex, keyIndex);
      putAnyValue(fields, KEY_VALUE_AND_UNIT.value, value);
    });
  }

  /** The fields of an attribute's message. */
  encoded(index: number): Uint8Array {
    return this.#encoded.get(index);
  }
}

/** Writes an AnyValue. Numbers are whole and not negative. */
export function putAnyValue(fields: FieldBytes, field: number, value: AttributeValue): void {
  const start = fields.begin(field);
  if (typeof value === 'string') fields.text(ANY_VALUE.stringValue, value);
  else if (typeof value === 'number') fields.element(ANY_VALUE.intValue, value);
  else if (typeof value === 'boolean') fields.element(ANY_VALUE.boolValue, Number(value));
  else {
    const array = fields.begin(ANY_VALUE.arrayValue);
    for (const text of value) putAnyValue(fields, ARRAY_VALUE.values, text);
    fields.end(array);
  }
  fields.end(start);
}
