import type { ByteView } from '../../base/bytes/byte-view.ts';
import type { ReusedMemory } from './reused-memory.ts';

/** The sections of debug information that are read, without the leading `.debug_` or `.zdebug_` and a final `.dwo`. */
export const DEBUG_SECTION_NAMES = [
  'info',
  'abbrev',
  'line',
  'str',
  'line_str',
  'str_offsets',
  'addr',
  'ranges',
  'rnglists',
  'aranges',
  'types',
  'cu_index',
  'tu_index',
  'sup',
] as const;
export type DebugSectionName = (typeof DEBUG_SECTION_NAMES)[number];

/** A section's bytes: decompressed, and relocated if the file is relocatable. */
export interface DebugSection {
  /** Size in bytes when decompressed; 0 for a section that the file lacks. */
  readonly sizeBytes: number;
  /**
   * Bytes from `offset` on; fewer than asked for only at the section's end. An uncompressed section is read from the file each time, a
   * compressed or relocated one once.
   * @param memory where to put them, if they are copied; by default, new memory
   * @throws PerfconvError when the section cannot be decompressed or read
   */
  read(offset: number, sizeBytes: number, memory?: ReusedMemory): Promise<ByteView>;
  /**
   * Begins to unpack the section, which will be read soon. Absent for one that is not compressed. Whoever reads it learns of damage.
   * @returns a promise that is fulfilled when other work can go on meanwhile
   */
  unpackAhead?(): Promise<void>;
}

/** The debug sections of one file. */
export interface DebugSections {
  /** The file's name, for messages. */
  readonly name: string;
  readonly littleEndian: boolean;
  /** Bytes of an address of the ELF class: 4 or 8. */
  readonly addressSize: 4 | 8;
  /** Whether there is code at svma 0, as in relocatable files. Elsewhere, 0 is the address of code that the linker discarded. */
  readonly hasCodeAtZero: boolean;
  /** The section with a name; one of size 0 if the file has none. */
  section(name: DebugSectionName): DebugSection;
  /**
   * In a package, which has an index of them: the sections of the type unit with a signature, undefined if there is none. Absent elsewhere:
   * there, type units are among the others, or in `.debug_types`.
   * @throws PerfconvError when the index cannot be read
   */
  typeUnit?(signature: string): Promise<DebugSections | undefined>;
}
