import type { ByteView } from '../../base/bytes/byte-view.ts';
import { SYMBOL_LAYOUTS, type SymbolLayout } from '../elf-constants.ts';

/** `st_value` of the entry at an offset in a symbol table. */
export function symbolValue(table: ByteView, at: number, layout: SymbolLayout): number {
  return layout === SYMBOL_LAYOUTS[64] ? table.i64(at + layout.st_value) : table.u32(at + layout.st_value);
}
