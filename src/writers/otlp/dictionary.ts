import type { Profile } from '../../profile/profile.ts';
import { type FieldBytes, fieldLength } from '../pprof/field-bytes.ts';
import type { FieldWriter } from '../pprof/field-writer.ts';
import { LocationLists } from '../pprof/location-lists.ts';
import { putMemory } from '../pprof/messages.ts';
import { mappingFileName, NONE, type PprofMapping, PprofTables } from '../pprof/tables.ts';
import { AttributeTable } from './attributes.ts';
import { FUNCTION, LINE, LINK, LOCATION, MAPPING, PROFILES_DICTIONARY, STACK } from './field-numbers.ts';
import { frameType } from './frame-types.ts';
import type { UsedStacks } from './stacks.ts';

/** Everything that profiles refer to by index. Row 0 of each table is empty, for what is not set; so indexes are the ids of pprof's tables. */
export class Dictionary {
  readonly tables: PprofTables;
  readonly attributes: AttributeTable;
  readonly #profile: Profile;
  /** By row of the tables: indexes of attributes. */
  readonly #mappingAttributes: number[][];
  /** By row of the tables: index of the attribute that says what its code is; 0 for none. */
  readonly #frameTypes: Uint32Array;

  constructor(profile: Profile) {
    this.#profile = profile;
    // The specification wants no rows that nothing refers to, not even for the main binary.
    this.tables = new PprofTables(profile, false);
    this.attributes = new AttributeTable(this.tables.strings);
    this.#mappingAttributes = this.tables.mappings.map((row) => mappingAttributes(row).map(([key, value]) => this.attributes.intern(key, value)));
    this.#frameTypes = this.#internFrameTypes();
  }

  get strings(): PprofTables['strings'] {
    return this.tables.strings;
  }

  /** Writes the fields of the dictionary. What goes into profiles must have been interned. @param used the stacks of samples */
  async write(out: FieldWriter, used: UsedStacks): Promise<void> {
    const { attributes, strings } = this;
    const { functions, locations, mappings } = this.tables;
    putMessage(out, PROFILES_DICTIONARY.mappingTable);
    await out.putEach(mappings.length, (row) => this.#putMapping(out, row));
    putMessage(out, PROFILES_DICTIONARY.locationTable);
    await out.putEach(locations.size, (row) => this.#putLocation(out, row));
    putMessage(out, PROFILES_DICTIONARY.functionTable);
    await out.putEach(functions.size, (row) => this.#putFunction(out, row));
    putNoLink(out);
    await out.putEach(strings.size, (index) => out.text(PROFILES_DICTIONARY.stringTable, strings.get(index)));
    await out.putEach(attributes.size, (index) => putMessage(out, PROFILES_DICTIONARY.attributeTable, attributes.encoded(index)));
    putMessage(out, PROFILES_DICTIONARY.stackTable);
    await this.#writeStacks(out, used);
  }

  /** Locations that are one in the tables are in the same code. */
  #internFrameTypes(): Uint32Array {
    const { locationId, locations } = this.tables;
    const frameTypes = new Uint32Array(locations.size);
    for (let location = 0; location < locationId.length; location++) {
      const row = locationId[location] - 1;
      if (row < 0 || frameTypes[row] !== 0) continue;
      const type = frameType(this.#profile, location);
      if (type !== undefined) frameTypes[row] = this.attributes.intern('profile.frame.type', type);
    }
    return frameTypes;
  }

  #putMapping(fields: FieldBytes, row: number): void {
    const { mapping } = this.tables.mappings[row];
    const start = fields.begin(PROFILES_DICTIONARY.mappingTable);
    putMemory(fields, MAPPING, mapping);
    fields.number(MAPPING.filenameStrindex, this.strings.intern(mappingFileName(mapping)));
    fields.packed(MAPPING.attributeIndices, this.#mappingAttributes[row]);
    fields.end(start);
  }

  #putLocation(fields: FieldBytes, row: number): void {
    const { locations, lines } = this.tables;
    const at = row * locations.arity;
    const start = fields.begin(PROFILES_DICTIONARY.locationTable);
    const mapping = locations.words[at + 2];
    if (mapping !== NONE) fields.number(LOCATION.mappingIndex, mapping + 1);
    fields.words(LOCATION.address, locations.words[at], locations.words[at + 1]);
    for (let line = locations.words[at + 3]; line !== NONE; line = lines.words[line * lines.arity]) this.#putLine(fields, line);
    if (this.#frameTypes[row] !== 0) fields.packed(LOCATION.attributeIndices, [this.#frameTypes[row]]);
    fields.end(start);
  }

  #putLine(fields: FieldBytes, row: number): void {
    const { lines } = this.tables;
    const at = row * lines.arity;
    const start = fields.begin(LOCATION.lines);
    fields.number(LINE.functionIndex, lines.words[at + 1] + 1);
    fields.number(LINE.line, lines.words[at + 2]);
    fields.number(LINE.column, lines.words[at + 3]);
    fields.end(start);
  }

  #putFunction(fields: FieldBytes, row: number): void {
    const { functions } = this.tables;
    const start = fields.begin(PROFILES_DICTIONARY.functionTable);
    fields.number(FUNCTION.nameStrindex, functions.name(row));
    fields.number(FUNCTION.systemNameStrindex, functions.systemName(row));
    fields.number(FUNCTION.filenameStrindex, functions.file(row));
    fields.number(FUNCTION.startLine, functions.startLine(row));
    fields.end(start);
  }

  async #writeStacks(out: FieldWriter, { size, stacks }: UsedStacks): Promise<void> {
    const lists = new LocationLists(this.#profile.stacks, this.tables.locationId);
    for (let row = 0; row < size; ) {
      for (; row < size && !out.isFull; row++) {
        // hot
        const length = lists.lengths[stacks[row]];
        // Known beforehand: the lists copy from one another, so they must stay where they are.
        out.lengthPrefix(PROFILES_DICTIONARY.stackTable, fieldLength(length));
        out.lengthPrefix(STACK.locationIndices, length);
        out.reserve(length);
        out.length = lists.put(stacks[row], out.bytes, out.length);
      }
      if (!out.isFull) continue;
      lists.endPiece(out.length);
      await out.flush();
    }
  }
}

/** What is known about a mapping: its build id, and what pprof would ask for if the profile were converted to its format. */
function mappingAttributes({ mapping, ...has }: PprofMapping): [key: string, value: string | boolean][] {
  const attributes: [key: string, value: string | boolean][] = [];
  if (mapping.buildId !== '') attributes.push(['process.executable.build_id.gnu', mapping.buildId]);
  if (has.hasFunctions) attributes.push(['pprof.mapping.has_functions', true]);
  if (has.hasFilenames) attributes.push(['pprof.mapping.has_filenames', true]);
  if (has.hasLineNumbers) attributes.push(['pprof.mapping.has_line_numbers', true]);
  if (has.hasInlineFrames) attributes.push(['pprof.mapping.has_inline_frames', true]);
  return attributes;
}

/** Writes a message whose fields are encoded; by default an empty one, as row 0 of tables. */
function putMessage(fields: FieldBytes, field: number, encoded: Uint8Array = NOTHING): void {
  fields.lengthPrefix(field, encoded.length);
  fields.append(encoded);
}

const NOTHING = new Uint8Array(0);

/** Writes row 0 of the links, which are to spans of traces. Its ids are zeros of their full length, for decoders that expect that (profiles.proto). */
function putNoLink(fields: FieldBytes): void {
  const start = fields.begin(PROFILES_DICTIONARY.linkTable);
  putMessage(fields, LINK.traceId, new Uint8Array(16));
  putMessage(fields, LINK.spanId, new Uint8Array(8));
  fields.end(start);
}
