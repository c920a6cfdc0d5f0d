import type { ByteView } from '../../base/bytes/byte-view.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import {
  DW_FORM_block,
  DW_FORM_block1,
  DW_FORM_block2,
  DW_FORM_block4,
  DW_FORM_data1,
  DW_FORM_data2,
  DW_FORM_data4,
  DW_FORM_data8,
  DW_FORM_data16,
  DW_FORM_flag,
  DW_FORM_GNU_strp_alt,
  DW_FORM_line_strp,
  DW_FORM_sdata,
  DW_FORM_sec_offset,
  DW_FORM_string,
  DW_FORM_strp,
  DW_FORM_strp_sup,
  DW_FORM_strx,
  DW_FORM_strx1,
  DW_FORM_strx2,
  DW_FORM_strx3,
  DW_FORM_strx4,
  DW_FORM_udata,
} from '../encoding/dwarf-constants.ts';
import { DW_LNCT_directory_index, DW_LNCT_path } from './line-constants.ts';
import { LineCursor } from './line-cursor.ts';

/** Where the text of a name is: in the unit itself, or in one of the string sections. */
export const NAME_INLINE = 0;
export const NAME_LINE_STR = 1;
export const NAME_STR = 2;
/** In the supplementary file's `.debug_str`. */
export const NAME_STR_SUP = 3;
/** By an index into `.debug_str_offsets`. */
export const NAME_STRX = 4;

/** A list of directories or files, as columns: one list has thousands of names, and few of them are asked for. */
export interface LineNames {
  /** NAME_… */
  readonly sources: number[];
  /** Offset in the unit or section, or index. */
  readonly places: number[];
  /** For files: index in the list of directories. */
  readonly directories: number[];
}

/** The header of a line number program (DWARF 5, 6.2.4). Names are the standard's. */
export interface LineHeader {
  readonly version: number;
  /** 4 in the 32-bit format, 8 in the 64-bit one. */
  readonly offsetSize: 4 | 8;
  readonly minimumInstructionLength: number;
  /** At least 1. */
  readonly maximumOperationsPerInstruction: number;
  readonly lineBase: number;
  readonly lineRange: number;
  readonly opcodeBase: number;
  /** The operand count of opcode n is at n - 1. */
  readonly standardOpcodeLengths: Uint8Array;
  /** By the index that {@link files} refer to; up to version 4, the first is 1, and 0 is the unit's directory. */
  readonly directories: LineNames;
  /** By the index that the program uses; up to version 4, the first is 1, and nothing is at 0. */
  readonly files: LineNames;
  /** Offset of the first opcode from the beginning of the unit. */
  readonly programOffset: number;
  /** Offset of the end of the last opcode. */
  readonly endOffset: number;
}

/** Size of the unit that begins with these bytes (12 are enough), its length field included; 0 if they make no sense. */
export function lineUnitSize(start: ByteView): number {
  if (start.length < 4) return 0;
  const length = start.u32(0);
  if (length === 0xffff_ffff) return start.length < 12 ? 0 : 12 + start.u64(4);
  // The standard reserves larger values (7.4).
  return length >= 0xffff_fff0 ? 0 : 4 + length;
}

/**
 * Reads a header. If its lists of names are damaged, the names before the damage are kept, and the program can be run.
 * @param unit from the length field on, or as much of it as the section has
 * @param place for messages
 * @throws PerfconvError `damaged`, or `unsupported` for an unknown version
 */
export function readLineHeader(unit: ByteView, place: { readonly file: string; readonly offset: number }): LineHeader {
  const problem = (code: 'damaged' | 'unsupported', what: string): PerfconvError =>
    new PerfconvError(code, what, { ...place, record: 'line number program in .debug_line' });
  const endOffset = Math.min(lineUnitSize(unit), unit.length);
  if (endOffset === 0) throw problem('damaged', 'there is none');
  const offsetSize = unit.u32(0) === 0xffff_ffff ? 8 : 4;
  const cursor = new LineCursor(unit, offsetSize === 8 ? 12 : 4, endOffset);
  const version = cursor.u16();
  if (!cursor.overran && (version < 2 || version > 5)) throw problem('unsupported', `unknown version ${version}`);
  // The address size is not needed: each address comes with its size.
  if (version === 5) cursor.skip(2);
  const headerLength = cursor.offset(offsetSize);
  const programOffset = cursor.at + headerLength;
  const minimumInstructionLength = cursor.u8();
  const maximumOperationsPerInstruction = version >= 4 ? Math.max(1, cursor.u8()) : 1;
  cursor.skip(1); // default_is_stmt
  const lineBase = (cursor.u8() << 24) >> 24;
  const lineRange = cursor.u8();
  const opcodeBase = cursor.u8();
  const lengthsAt = cursor.at;
  cursor.skip(Math.max(0, opcodeBase - 1));
  if (cursor.overran) throw problem('damaged', `header cut off after ${endOffset} bytes`);
  // The lists may not extend into the program. If the header's length is wrong, they may use all bytes there are.
  const lists = new LineCursor(unit, cursor.at, Math.max(programOffset, cursor.at));
  const [directories, files] = version >= 5 ? [readEntries(lists, offsetSize), readEntries(lists, offsetSize)] : [readDirectories(lists), readFiles(lists)];
  return {
    version,
    offsetSize,
    minimumInstructionLength,
    maximumOperationsPerInstruction,
    lineBase,
    lineRange,
    opcodeBase,
    standardOpcodeLengths: unit.bytes.subarray(lengthsAt, cursor.at),
    directories,
    files,
    // A program that would begin after the unit's end has no opcodes.
    programOffset: Math.min(programOffset, endOffset),
    endOffset,
  };
}

function noNames(): LineNames {
  return { sources: [], places: [], directories: [] };
}

function addName({ sources, places, directories }: LineNames, source: number, place: number, directory = 0): void {
  sources.push(source);
  places.push(place);
  directories.push(directory);
}

/** `include_directories` up to version 4: strings, ended by an empty one. */
function readDirectories(cursor: LineCursor): LineNames {
  const names = noNames();
  addName(names, NAME_INLINE, -1);
  for (;;) {
    const at = cursor.text();
    if (cursor.overran || cursor.at === at + 1) return names;
    addName(names, NAME_INLINE, at);
  }
}

/** `file_names` up to version 4: entries, ended by one with an empty name. */
function readFiles(cursor: LineCursor): LineNames {
  const names = noNames();
  addName(names, NAME_INLINE, -1);
  while (readFileEntry(cursor, names));
  return names;
}

/** Forgets the names of a list from an index on. */
export function forgetNames({ sources, places, directories }: LineNames, from: number): void {
  for (const column of [sources, places, directories]) column.length = from;
}

/** A file's name, directory, time and size, as in headers up to version 4 and in DW_LNE_define_file; false at the end of the list. */
export function readFileEntry(cursor: LineCursor, names: LineNames): boolean {
  const at = cursor.text();
  if (cursor.overran || cursor.at === at + 1) return false;
  const directory = cursor.uleb();
  cursor.uleb();
  cursor.uleb();
  if (cursor.overran) return false;
  addName(names, NAME_INLINE, at, directory);
  return true;
}

/** `directories` and `file_names` of version 5: a list of fields, then entries that have these fields. */
function readEntries(cursor: LineCursor, offsetSize: 4 | 8): LineNames {
  const names = noNames();
  const fields: number[] = [];
  for (let left = cursor.u8(); left > 0 && !cursor.overran; left--) fields.push(cursor.uleb(), cursor.uleb());
  const count = cursor.uleb();
  // Every form takes bytes: only entries without fields can number millions.
  if (fields.length === 0) return names;
  for (let i = 0; i < count; i++) {
    let source = NAME_INLINE;
    let place = -1;
    let directory = 0;
    for (let field = 0; field < fields.length; field += 2) {
      const form = fields[field + 1];
      const at = cursor.at;
      const value = readForm(cursor, form, offsetSize);
      if (cursor.overran) return names;
      if (fields[field] === DW_LNCT_directory_index) directory = value;
      if (fields[field] !== DW_LNCT_path) continue;
      source = sourceOf(form);
      place = source === NAME_INLINE ? (form === DW_FORM_string ? at : -1) : value;
    }
    addName(names, source, place, directory);
  }
  return names;
}

function sourceOf(form: number): number {
  switch (form) {
    case DW_FORM_line_strp:
      return NAME_LINE_STR;
    case DW_FORM_strp:
      return NAME_STR;
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
      return NAME_STR_SUP;
    case DW_FORM_strx:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
      return NAME_STRX;
    default:
      return NAME_INLINE;
  }
}

/** The value of a numeric field; 0 for other fields, which are skipped. An unknown form ends the lists. */
function readForm(cursor: LineCursor, form: number, offsetSize: 4 | 8): number {
  switch (form) {
    case DW_FORM_data1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
      return cursor.u8();
    case DW_FORM_data2:
    case DW_FORM_strx2:
      return cursor.u16();
    case DW_FORM_strx3:
      return cursor.u24();
    case DW_FORM_data4:
    case DW_FORM_strx4:
      return cursor.u32();
    case DW_FORM_data8:
      return cursor.u64();
    case DW_FORM_udata:
    case DW_FORM_strx:
    case DW_FORM_sdata:
      return cursor.uleb();
    case DW_FORM_line_strp:
    case DW_FORM_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
    case DW_FORM_sec_offset:
      return cursor.offset(offsetSize);
    case DW_FORM_string:
      cursor.text();
      return 0;
    case DW_FORM_data16: // An MD5 digest.
      cursor.skip(16);
      return 0;
    case DW_FORM_block:
      cursor.skip(cursor.uleb());
      return 0;
    case DW_FORM_block1:
      cursor.skip(cursor.u8());
      return 0;
    case DW_FORM_block2:
      cursor.skip(cursor.u16());
      return 0;
    case DW_FORM_block4:
      cursor.skip(cursor.u32());
      return 0;
    default:
      cursor.skip(Number.POSITIVE_INFINITY);
      return 0;
  }
}
