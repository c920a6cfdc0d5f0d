import { ByteView } from '../../../../src/base/bytes/byte-view.ts';
import type { DebugSectionName, DebugSections } from '../../../../src/dwarf/sections/debug-sections.ts';

/** Debug sections in memory; `reads` counts how often one was read. */
export function memorySections(
  content: Partial<Record<DebugSectionName, Uint8Array>>,
  options: Partial<Pick<DebugSections, 'name' | 'littleEndian' | 'addressSize' | 'hasCodeAtZero'>> = {},
): DebugSections & { reads: number } {
  const sections = {
    name: 'memory',
    littleEndian: true,
    addressSize: 8 as const,
    hasCodeAtZero: false,
    reads: 0,
    ...options,
    section(name: DebugSectionName) {
      const bytes = content[name] ?? new Uint8Array();
      const read = async (offset: number, sizeBytes: number): Promise<ByteView> => {
        sections.reads++;
        return new ByteView(bytes.subarray(offset, offset + sizeBytes), sections.littleEndian);
      };
      return { sizeBytes: bytes.length, read };
    },
  };
  return sections;
}
