import { PerfconvError } from '../../base/problems/errors.ts';
import type { Abbreviations } from '../encoding/abbreviations.ts';
import * as dw from '../encoding/dwarf-constants.ts';
import type { FormReader } from '../encoding/forms.ts';
import { TEXT_NONE, textPlace } from '../encoding/string-reader.ts';
import { readUnitId, type UnitHeader } from './unit-header.ts';

/** An attribute's form and value as they are in the file; for a string, {@link FormReader.textAt}. */
export interface RawValue {
  readonly form: number;
  readonly value: number;
}

/** What a unit's root DIE says (DWARF 5, 3.1), as far as it is used. Offsets are in sections; −1 when absent. */
export interface UnitRoot {
  /** DW_TAG_… */
  readonly tag: number;
  /** DW_LANG_…; −1 when absent, as in dwz's partial units. */
  readonly language: number;
  readonly name: RawValue | undefined;
  readonly compDir: RawValue | undefined;
  readonly lowPc: RawValue | undefined;
  readonly highPc: RawValue | undefined;
  readonly ranges: RawValue | undefined;
  readonly stmtList: number;
  /** Where the unit's contributions to other sections start, by default or as the DIE says. */
  readonly strOffsetsBase: number;
  readonly addrBase: number;
  readonly rnglistsBase: number;
  /** DW_AT_GNU_ranges_base; 0 when absent. */
  readonly gnuRangesBase: number;
  /** The file with the rest of the unit; undefined if there is no other file, or it has no code. */
  readonly dwoName: RawValue | undefined;
  /** 16 hex digits; empty if the unit has none. */
  readonly dwoId: string;
}

/** Reads the attributes of a DIE, and calls `take` after each. @returns the row of its abbreviation */
function readAttributes(abbreviations: Abbreviations, reader: FormReader, take: (name: number) => void): number {
  const code = reader.uleb();
  const row = abbreviations.row(code);
  if (row < 0) throw new PerfconvError('damaged', `no abbreviation ${code}`, { record: 'DIE' });
  const { attributeStarts, names, forms, implicit, formSizes } = abbreviations;
  for (let i = attributeStarts[row]; i < attributeStarts[row + 1]; i++) {
    reader.read(forms[i], implicit[i], formSizes[i]);
    take(names[i]);
  }
  return row;
}

/** The string that the reader has just read; undefined if it was something else. */
function readText({ form, textAt }: FormReader): RawValue | undefined {
  return textPlace(form) === TEXT_NONE ? undefined : { form, value: textAt };
}

/**
 * Reads a unit's root DIE.
 * @param reader is at the DIE
 * @throws PerfconvError `damaged`, also when the reader's view ends inside it
 */
export function readUnitRoot(header: UnitHeader, abbreviations: Abbreviations, reader: FormReader): UnitRoot {
  // Where the first contribution to a section starts, after its header: DWARF 5, 7.26, 7.27 and 7.28. Earlier versions have no header.
  const isNew = header.version >= 5;
  const lengthSize = header.offsetSize === 8 ? 12 : 4;
  const root: { -readonly [Key in keyof UnitRoot]: UnitRoot[Key] } = {
    tag: 0,
    language: -1,
    name: undefined,
    compDir: undefined,
    lowPc: undefined,
    highPc: undefined,
    ranges: undefined,
    stmtList: -1,
    strOffsetsBase: isNew ? lengthSize + 4 : 0,
    addrBase: isNew ? lengthSize + 4 : 0,
    rnglistsBase: lengthSize + 8,
    gnuRangesBase: 0,
    dwoName: undefined,
    dwoId: header.dwoId,
  };
  let hasCode = false;
  const row = readAttributes(abbreviations, reader, (name) => {
    const { form, value } = reader;
    switch (name) {
      case dw.DW_AT_language:
        root.language = value;
        break;
      case dw.DW_AT_name:
        root.name = readText(reader);
        break;
      case dw.DW_AT_comp_dir:
        root.compDir = readText(reader);
        break;
      case dw.DW_AT_low_pc:
        root.lowPc = { form, value };
        break;
      case dw.DW_AT_high_pc:
        root.highPc = { form, value };
        break;
      case dw.DW_AT_ranges:
        root.ranges = { form, value };
        break;
      case dw.DW_AT_stmt_list:
        root.stmtList = value;
        break;
      case dw.DW_AT_str_offsets_base:
        root.strOffsetsBase = value;
        break;
      case dw.DW_AT_addr_base:
      case dw.DW_AT_GNU_addr_base:
        hasCode = true;
        root.addrBase = value;
        break;
      case dw.DW_AT_rnglists_base:
        root.rnglistsBase = value;
        break;
      case dw.DW_AT_GNU_ranges_base:
        root.gnuRangesBase = value;
        break;
      case dw.DW_AT_dwo_name:
      case dw.DW_AT_GNU_dwo_name:
        root.dwoName = readText(reader);
        break;
      case dw.DW_AT_GNU_dwo_id:
        if (form === dw.DW_FORM_data8) root.dwoId = readUnitId(reader.view, reader.valueAt);
        break;
    }
  });
  root.tag = abbreviations.tags[row];
  // swiftc, and clang with -gmodules, split off a module's types: such a file (.pcm) is not a .dwo.
  hasCode ||= root.lowPc !== undefined || root.ranges !== undefined;
  if (!hasCode) root.dwoName = undefined;
  return root;
}
