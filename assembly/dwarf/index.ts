/** The module: everything that src/dwarf/ calls and reads. A name says which part it belongs to if several parts have the same name. */

export {
  block as tableBlock,
  blockSizeBytes as tableBlockSizeBytes,
  parseTable,
  placeTableBytes,
  sizesOfForms,
  tableSizeBytes,
} from './abbreviation-table';
export { placeTable, setTable } from './abbreviations';
export { beginClaims, dies, endsBefore, functionCount, innermost, parents, placeWanted } from './function-claims';
export { beginFunctions, hasSkipped, open, openCount, placeUnit, scan, scanPosition } from './function-scan';
export {
  addresses as lineAddresses,
  beginLineProgram,
  columns as lineColumns,
  count as lineCount,
  entryAt,
  entryEnd,
  files as lineFiles,
  firstRow,
  isCut,
  lines as lineNumbers,
  operandCounts,
  placeLines,
  runLineProgram,
  sequenceCount,
  sequences,
} from './line-program';
export { dropCount, endScratch, tableCapacity } from './memory';
export { findScopes } from './scope-scan';
export {
  addressOf,
  count as rangeCount,
  ends as rangeEnds,
  entriesLeft,
  missing,
  missingOffset,
  missingSizeBytes,
  placeWindow,
  readRanges,
  setUnitFormat,
  setWindow,
  starts as rangeStarts,
} from './unit-addresses';
