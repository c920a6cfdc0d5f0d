import type { SectionReader } from '../base/bytes/section-reader.ts';
import { DSO_ELF_FILE, DSO_KERNEL, DSO_KERNEL_MODULE, DSO_SYMBOL_MAP_FILE } from '../simpleperf/constants.ts';
import { checkFileCount, type SimpleperfFile, SymbolList } from '../simpleperf/files.ts';
import { HIPERF_KERNEL_FILE, HIPERF_KERNEL_MODULE_FILE } from './constants.ts';

/** A binary in the feature, read as simpleperf's: its types are DSO_* of simpleperf. */
export interface HiperfFile extends SimpleperfFile {
  /** In hexadecimal; empty if it has none. */
  readonly buildId: string;
}

/** In place of an address: unset. */
const UNSET = -1;

/**
 * Reads HIPERF_FILES_SYMBOL into `files`: a u32 count; for each file its path, u32 type, u64 address and u64 file offset at which its code begins, its build id,
 * and a u32 count of symbols, each with u64 address, u32 size and name. hiperf writes those that samples lead to, demangled. What was read before damage stays.
 * @param isArm whether the machine runs Arm code, 32-bit or 64-bit: hiperf leaves the bit in an address that says that a function is Thumb code
 * @throws PerfconvError `damaged` if the section ends too early, or lists too many files
 */
export function readSymbolFiles(section: SectionReader, isArm: boolean, files: HiperfFile[]): void {
  for (let left = section.u32(); left > 0; left--) {
    checkFileCount(files);
    const path = section.string();
    const type = section.u32();
    const codeAddress = section.view.i64(section.skip(8));
    const codeOffset = section.size();
    const buildId = section.string();
    const symbols = new SymbolList(section.view.bytes);
    files.push({ path, buildId, symbols, dexFileOffsets: [], ...placeOf(type, codeAddress, codeOffset) });
    for (let rest = section.u32(); rest > 0; rest--) readSymbol(section, isArm, symbols);
  }
}

/**
 * What a file is, and where its symbols' addresses are: those of an ELF file in the file, those of a module from where it was loaded, and all others, of code
 * made at run time, in the process.
 */
function placeOf(type: number, codeAddress: number, codeOffset: number): Pick<SimpleperfFile, 'type' | 'minVaddr' | 'offsetOfMinVaddr'> {
  if (type === HIPERF_KERNEL_FILE) return { type: DSO_KERNEL, minVaddr: 0, offsetOfMinVaddr: -1 };
  if (type === HIPERF_KERNEL_MODULE_FILE) return { type: DSO_KERNEL_MODULE, minVaddr: 0, offsetOfMinVaddr: 0 };
  if (codeAddress === UNSET) return { type: DSO_SYMBOL_MAP_FILE, minVaddr: 0, offsetOfMinVaddr: -1 };
  return { type: DSO_ELF_FILE, minVaddr: codeAddress, offsetOfMinVaddr: codeOffset };
}

function readSymbol(section: SectionReader, isArm: boolean, symbols: SymbolList): void {
  const address = section.view.i64(section.skip(8));
  const size = section.u32();
  const nameBytes = section.u32();
  const nameStart = section.skip(nameBytes);
  const nul = section.view.bytes.indexOf(0, nameStart);
  const nameEnd = nul < 0 || nul > section.at ? section.at : nul;
  symbols.add(isArm && address % 2 !== 0 ? address - 1 : address, size, nameStart, nameEnd);
}
