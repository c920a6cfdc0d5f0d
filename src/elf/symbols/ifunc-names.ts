import { SHT_DYNSYM, SHT_SYMTAB, SYMBOL_LAYOUTS } from '../elf-constants.ts';
import type { ElfFile } from '../elf-file.ts';
import { NameLengths } from './name-lengths.ts';
import { STB_WEAK, STT_GNU_IFUNC } from './symbol-constants.ts';
import { symbolValue } from './symbol-value.ts';

/** Longer names are left out: those of a hostile file may overlap each other. */
const MAX_NAME_SIZE_BYTES = 4096;
const UNDERSCORE = 0x5f;

/** A name of a function. */
interface IfuncName {
  readonly bytes: Uint8Array;
  readonly isWeak: boolean;
}

/**
 * Names of functions that have several versions, of which a program chooses one when it starts, such as `memcpy`. Of several names, it is the one with the
 * fewest leading underscores, rather one that is not weak, rather a short one: `memcmp` and not `bcmp`, `sin` and not `sinf32x`.
 * @param elf the file with the symbols
 * @param resolvers addresses (svmas) of the functions that choose: their symbols are of the type STT_GNU_IFUNC
 * @returns bytes of names, by address
 */
export async function readIfuncNames(elf: ElfFile, resolvers: ReadonlySet<number>): Promise<ReadonlyMap<number, Uint8Array>> {
  const best = new Map<number, IfuncName>();
  for (const section of elf.sections) {
    const strings = elf.sections[section.link];
    if ((section.type !== SHT_SYMTAB && section.type !== SHT_DYNSYM) || strings === undefined) continue;
    const table = await elf.readSection(section);
    const { bytes } = await elf.readSection(strings);
    const lengths = new NameLengths(bytes, elf.source.name);
    const layout = SYMBOL_LAYOUTS[elf.classBits];
    const { st_info, st_name, sizeBytes } = layout;
    // hot
    for (let at = 0; at + sizeBytes <= table.length; at += sizeBytes) {
      const info = table.u8(at + st_info);
      if ((info & 0xf) !== STT_GNU_IFUNC) continue;
      const value = symbolValue(table, at, layout);
      const nameAt = table.u32(at + st_name);
      if (!resolvers.has(value) || nameAt >= bytes.length) continue;
      const length = lengths.at(nameAt);
      if (length === 0 || length > MAX_NAME_SIZE_BYTES) continue;
      const name = { bytes: bytes.subarray(nameAt, nameAt + length), isWeak: info >>> 4 === STB_WEAK };
      const other = best.get(value);
      if (other === undefined || isBetter(name, other)) best.set(value, name);
    }
  }
  return new Map([...best].map(([value, { bytes }]) => [value, bytes]));
}

function isBetter(name: IfuncName, than: IfuncName): boolean {
  const underscores = leadingUnderscores(name) - leadingUnderscores(than);
  if (underscores !== 0) return underscores < 0;
  if (name.isWeak !== than.isWeak) return than.isWeak;
  return name.bytes.length < than.bytes.length;
}

function leadingUnderscores({ bytes }: IfuncName): number {
  const end = bytes.findIndex((byte) => byte !== UNDERSCORE);
  return end < 0 ? bytes.length : end;
}
