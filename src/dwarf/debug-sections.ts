import type { ByteView } from '../base/byte-view.ts';
import type { ReusedMemory } from './reused-memory.ts';

/** Sections of debug information that are read, without the leading `.debug_`, `.zdebug_` and without `.dwo` at the end. */
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

/** A section's bytes: decompressed, and relocated where the file is a relocatable one. */
export interface DebugSection {
  /** Size in bytes when decompressed; 0 for a section that the file lacks. */
  readonly sizeBytes: number;
  /**
   * Bytes from `offset` on; fewer than asked for only where the section ends. An uncompressed section is read from the file each
   * time, a compressed or relocated one once.
   * @param memory where to put them, if they have to be put anywhere; by default, memory of their own
   * @throws PerfconvError when the section cannot be decompressed or read
   */
  read(offset: number, sizeBytes: number, memory?: ReusedMemory): Promise<ByteView>;
  /**
   * Begins to unpack the section, which will be read soon. Absent for one that is not packed. Whoever reads it learns of damage.
   * @returns a promise that is fulfilled when other work can go on meanwhile
   */
  unpackAhead?(): Promise<void>;
}

/** The debug sections of one file. */
export interface DebugSections {
  /** The file's name, for messages. */
  readonly name: string;
  readonly littleEndian: boolean;
  /** Bytes of an address as the ELF class has it: 4 or 8. */
  readonly addressSize: 4 | 8;
  /** Whether code lies at svma 0, as in relocatable files. Elsewhere 0 is the address of code that the linker threw away. */
  readonly hasCodeAtZero: boolean;
  /** A section of that name; one of size 0 when the file has none. */
  section(name: DebugSectionName): DebugSection;
  /**
   * In a package, which has an index of them: the sections of the type unit with that signature, undefined when there is none. Absent
   * elsewhere: there, type units are among the others, or in `.debug_types`.
   * @throws PerfconvError when the index cannot be read
   */
  typeUnit?(signature: string): Promise<DebugSections | undefined>;
}
